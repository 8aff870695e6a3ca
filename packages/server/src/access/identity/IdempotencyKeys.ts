/**
 * The same key from the same caller means the same request: it happens once, and a repeat gets the first answer. Key,
 * effect and answer commit together, so that a retry after a crash finds either nothing or everything. Answers to
 * creates are stored here for a day, encrypted, because they may contain a token. A call and a trigger are their own
 * record of the key and their own answer: they are found by it as long as they are kept (`calls/Calls.ts`,
 * `runs/waking/Triggers.ts`), and refuse another request by the same `otherRequest`.
 */
import { createHash } from "node:crypto"
import { type Caller, WrongState } from "@stoa/contract"
import { type CallContext, digestOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Transaction } from "../../store/journal/Journal.ts"
import { Secrets } from "../secrets/Secrets.ts"

/** The error when a key is used again with a different request. */
export const otherRequest = () =>
  new WrongState({ detail: "This idempotency key was used for another request. Take a new key for a new request." })

/**
 * The key that a service outside gets with a call. The caller's own key stays here, and the same key of two callers is
 * two keys there.
 */
export const outsideKeyOf = ({ idempotencyKey, principal }: CallContext): string =>
  digestOf([principal, idempotencyKey])

/** A request that carries a key. */
export interface KeyedRequest {
  readonly principal: string
  readonly key: string
  readonly digest: string
}

/** Bound to the token too: another token of the same principal must not get an answer that may contain a new token. */
export const keyedRequestOf = (
  { principal, token }: Caller["Service"],
  key: string,
  request: ReadonlyArray<unknown>,
): KeyedRequest => ({
  principal: principal.id,
  key,
  digest: createHash("sha256")
    .update(JSON.stringify([token, ...request]))
    .digest("hex"),
})

export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /** Takes the key for this request, or returns the first answer. */
    readonly claim: (request: KeyedRequest) => Effect.Effect<Uint8Array | undefined, WrongState, Transaction>
    /** Stores the answer of a request whose key was claimed in this transaction. */
    readonly keep: (request: KeyedRequest, answer: Uint8Array) => Effect.Effect<void, never, Transaction>
  }
>()("server/access/identity/IdempotencyKeys") {
  static readonly layer = Layer.effect(
    IdempotencyKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* Secrets
      const labelOf = ({ key, principal }: KeyedRequest) => `answer/${principal}/${key}`

      const claim: IdempotencyKeys["Service"]["claim"] = Effect.fn("IdempotencyKeys.claim")(function* (request) {
        const { digest, key, principal } = request
        const createdAt = DateTime.formatIso(yield* DateTime.now)
        // On Postgres a second request with the same key waits here until the first has committed.
        const mine = yield* Effect.orDie(
          sql`INSERT INTO answers ${sql.insert({ principal, key, request: digest, createdAt })}
            ON CONFLICT (principal, key) DO NOTHING RETURNING key`,
        )
        if (mine.length > 0) return undefined
        const rows = yield* Effect.orDie(
          sql<{ request: string; answer: Uint8Array }>`SELECT request, answer FROM answers
            WHERE principal = ${principal} AND key = ${key}`,
        )
        if (rows[0]!.request !== digest) return yield* otherRequest()
        return yield* Effect.try({
          try: () => secrets.unseal(labelOf(request), rows[0]!.answer),
          catch: () =>
            new WrongState({
              detail:
                "The answer to this idempotency key was encrypted with another secret key. Use a new idempotency key.",
            }),
        })
      })

      const keep: IdempotencyKeys["Service"]["keep"] = Effect.fn("IdempotencyKeys.keep")(function* (request, answer) {
        const { key, principal } = request
        yield* Effect.orDie(sql`UPDATE answers SET answer = ${secrets.seal(labelOf(request), answer)}
          WHERE principal = ${principal} AND key = ${key}`)
      })

      return IdempotencyKeys.of({ claim, keep })
    }),
  )
}
