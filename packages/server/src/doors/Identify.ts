/** Who a bearer token stands for, for every door alike. Identity comes from here and from nowhere else. */
import { type Caller, Unauthenticated, type TooManyRequests } from "@stoa/contract"
import { Effect, Option, type Redacted } from "effect"
import { Limits } from "../access/limits/Limits.ts"
import { Tokens } from "../access/identity/Tokens.ts"
import { atHand } from "../store/AtHand.ts"
import { whereRoom } from "../store/database/FullDisk.ts"
import { Journal } from "../store/journal/Journal.ts"

/** `address` is counted for wrong guesses. No credential is the stand-in, where a setting names one. */
export type Identify = (
  credential: Redacted.Redacted | undefined,
  address: string,
) => Effect.Effect<Caller["Service"], Unauthenticated | TooManyRequests>

/** What `WWW-Authenticate` says: a token that was sent and refused is named so, one that was not sent is no error. */
export const challengeOf = ({ reason }: Unauthenticated): string =>
  reason === "missing" ? "Bearer" : 'Bearer error="invalid_token"'

export const makeIdentify = (anonymous: Option.Option<string>) =>
  Effect.gen(function* () {
    const tokens = yield* Tokens
    const limits = yield* Limits
    const journal = yield* Journal

    const refused = Effect.fnUntraced(function* (error: Unauthenticated, address: string) {
      // Counted before it is written down: a flood of guesses must not become a flood of rows.
      yield* limits.takeGuess(address)
      yield* whereRoom(
        "a refused token",
        journal.transact(
          journal.append({
            kind: "access.denied",
            body: { principal: null, action: "authenticate", resource: "tokens", rule: "unknown, expired or revoked" },
          }),
        ),
      )
      return yield* error
    })

    const identify: Identify = (credential, address) => {
      if (credential !== undefined) {
        const known = tokens.authenticate(credential)
        if (atHand(known) !== undefined) return known
        return Effect.catchTag(known, "Unauthenticated", (error) => refused(error, address))
      }
      if (Option.isSome(anonymous)) return Effect.orDie(tokens.standIn(anonymous.value))
      return Effect.fail(new Unauthenticated({ reason: "missing" }))
    }
    return identify
  })
