/** Turns the bearer token into a caller, or answers 401. Identity comes from here and from nowhere else. */
import { Authentication, Caller, Forbidden, Unauthenticated } from "@stoa/contract"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Grants } from "../../access/Grants.ts"
import { Limits } from "../../access/Limits.ts"
import { Tokens } from "../../access/Tokens.ts"
import { Correlation, causedBy } from "../../store/Correlation.ts"
import { Journal } from "../../store/Journal.ts"

const withHeader = (name: string, value: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, name, value)),
  )

/** effect/http-api hands a security middleware its handler's failures in a wrapper. */
const forbiddenIn = (error: unknown): Forbidden | undefined => {
  const inner = error instanceof Forbidden ? error : (error as { readonly error?: unknown }).error
  return inner instanceof Forbidden ? inner : undefined
}

export const layerAuthentication = (anonymous: Option.Option<string>) =>
  Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const limits = yield* Limits
      const grants = yield* Grants
      const journal = yield* Journal

      const refusedToken = Effect.fnUntraced(function* (error: Unauthenticated) {
        const request = yield* HttpServerRequest.HttpServerRequest
        // Counted before it is written down: a flood of guesses must not become a flood of rows.
        yield* limits.takeGuess(Option.getOrElse(request.remoteAddress, () => "unknown"))
        yield* journal.transact(
          journal.append({
            kind: "access.denied",
            body: { principal: null, action: "authenticate", resource: "tokens", rule: "unknown, expired or revoked" },
          }),
        )
        return yield* error
      })

      const callerOf = Effect.fnUntraced(function* (credential: Redacted.Redacted) {
        if (Redacted.value(credential) !== "")
          return yield* Effect.catchTag(tokens.authenticate(credential), "Unauthenticated", refusedToken)
        if (Option.isSome(anonymous)) return yield* Effect.orDie(tokens.standIn(anonymous.value))
        return yield* new Unauthenticated({ reason: "missing" })
      })

      return Authentication.of({
        bearer: Effect.fnUntraced(function* (app, { credential }) {
          const caller = yield* callerOf(credential).pipe(
            Effect.tapErrorTag("Unauthenticated", () => withHeader("www-authenticate", "Bearer")),
            Effect.tapErrorTag("TooManyRequests", (error) => withHeader("retry-after", String(error.retryAfter))),
          )
          yield* limits
            .take(caller, "http")
            .pipe(Effect.tapErrorTag("TooManyRequests", (error) => withHeader("retry-after", String(error.retryAfter))))
          const cause = yield* Correlation
          return yield* causedBy(
            {
              correlationId: cause!.correlationId,
              actor: caller.principal.id,
              provenance: caller.principal.kind === "service" ? "outside" : caller.principal.kind,
            },
            Effect.provideService(
              Effect.tapError(app, (error) => {
                const denied = forbiddenIn(error)
                return denied === undefined ? Effect.void : grants.recordDenial(denied)
              }),
              Caller,
              caller,
            ),
          )
        }),
      })
    }),
  )
