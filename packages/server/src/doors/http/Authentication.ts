/** Turns the bearer token into a caller, or answers 401. Identity comes from here and from nowhere else. */
import { Authentication, Caller, Forbidden, TooManyRequests, type Unauthenticated } from "@stoa/contract"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Grants } from "../../access/rights/Grants.ts"
import { Limits } from "../../access/limits/Limits.ts"
import { Correlation, causedBy } from "../../store/journal/Correlation.ts"
import { challengeOf, makeIdentify } from "../Identify.ts"

const withHeader = (name: string, value: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, name, value)),
  )

/** effect/http-api hands a security middleware its handler's failures in a wrapper. */
const forbiddenIn = (error: unknown): Forbidden | undefined => {
  const inner = error instanceof Forbidden ? error : (error as { readonly error?: unknown }).error
  return inner instanceof Forbidden ? inner : undefined
}
const tooManyIn = (error: unknown): TooManyRequests | undefined => {
  const inner = error instanceof TooManyRequests ? error : (error as { readonly error?: unknown }).error
  return inner instanceof TooManyRequests ? inner : undefined
}

/** Lets somebody in by a token and acts as them: what every endpoint of the API stands behind. */
export class Acting extends Context.Service<
  Acting,
  {
    readonly as: <A, E, R>(
      credential: Redacted.Redacted,
      app: Effect.Effect<A, E, R>,
    ) => Effect.Effect<
      A,
      E | Unauthenticated | TooManyRequests,
      Exclude<R, Caller> | HttpServerRequest.HttpServerRequest
    >
  }
>()("server/doors/http/Acting") {}

const layerActing = (anonymous: Option.Option<string>) =>
  Layer.effect(
    Acting,
    Effect.gen(function* () {
      const limits = yield* Limits
      const grants = yield* Grants
      const identify = yield* makeIdentify(anonymous)

      const as = Effect.fnUntraced(function* <A, E, R>(credential: Redacted.Redacted, app: Effect.Effect<A, E, R>) {
        const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
        const address = Option.getOrElse(remoteAddress, () => "unknown")
        const given = Redacted.value(credential) === "" ? undefined : credential
        const caller = yield* identify(given, address).pipe(
          Effect.tapErrorTag("Unauthenticated", (error) => withHeader("www-authenticate", challengeOf(error))),
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
            Effect.tapError(
              app,
              Effect.fnUntraced(function* (error) {
                const late = tooManyIn(error)
                if (late !== undefined) yield* withHeader("retry-after", String(late.retryAfter))
                const denied = forbiddenIn(error)
                if (denied !== undefined) yield* grants.recordDenial(denied)
              }),
            ),
            Caller,
            caller,
          ),
        )
      })
      return Acting.of({ as })
    }),
  )

export const layerAuthentication = (anonymous: Option.Option<string>) =>
  Layer.effect(
    Authentication,
    Effect.map(Acting, (acting) => Authentication.of({ bearer: (app, { credential }) => acting.as(credential, app) })),
  ).pipe(Layer.provideMerge(layerActing(anonymous)))
