/**
 * Lets a request act as the bearer of its token, or answers 401. Every endpoint of the API uses it. Where the endpoint takes
 * signatures, a service may sign its request instead, so that nothing that it could be robbed of is on the way.
 */
import { Authentication, TakesSignature, Unauthenticated } from "@stoa/contract"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Principals } from "../../access/identity/Principals.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import { makeServiceKey } from "../../access/secrets/ServiceKeys.ts"
import { isSigned, signatureHeader } from "../../calls/waiting/Signatures.ts"
import { currentCause } from "../../store/journal/Correlation.ts"
import { Acting, headersOf, type Sender } from "../Acting.ts"
import { Upkeep } from "../Upkeep.ts"
import { noSession, sessionIn } from "./sessionCookie.ts"

export const senderOf = (request: HttpServerRequest.HttpServerRequest): Sender => ({
  authorization: request.headers["authorization"],
  address: Option.getOrUndefined(request.remoteAddress),
})

/** A session that is over goes out of the browser, so that it is not tried again and again. */
const forgetSession = (address: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", noSession(address))),
  )

/** How large its body is; one that comes in parts is read to know. */
const bytesOf = (request: HttpServerRequest.HttpServerRequest): number | Effect.Effect<number> =>
  request.headers["transfer-encoding"] === undefined
    ? Number(request.headers["content-length"] ?? 0)
    : Effect.map(Effect.orDie(request.arrayBuffer), ({ byteLength }) => byteLength)

/** What a refusal says in headers goes with the answer. */
export const withRefusalHeaders = <A, E, R>(app: Effect.Effect<A, E, R>) =>
  Effect.tapError(app, (error) =>
    HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeaders(response, headersOf(error))),
    ),
  )

/** Acts as whoever the request's token says. */
export const actingAsBearer = Effect.map(
  Effect.all([Acting, Upkeep]),
  ([acting, upkeep]) =>
    <A, E, R>(app: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const address = upkeep.address()
        const sender = { ...senderOf(request), session: sessionIn(request, address) }
        const caller = yield* Effect.tapErrorTag(acting.identify(sender), "Unauthenticated", () =>
          sender.authorization === undefined && sender.session !== undefined ? forgetSession(address) : Effect.void,
        )
        const { correlationId } = yield* currentCause
        return yield* acting.as(caller, correlationId, app, bytesOf(request))
      }).pipe(withRefusalHeaders),
)

const serviceHeader = "stoa-service"

/** Acts as the service that the request names, where its key has signed whom it calls and what it says. */
const actingAsService = Effect.gen(function* () {
  const acting = yield* Acting
  const principals = yield* Principals
  const tokens = yield* Tokens
  const keyOf = yield* makeServiceKey

  const signer = Effect.fnUntraced(function* (signature: string) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const service = yield* Effect.option(principals.get(request.headers[serviceHeader] ?? ""))
    const key = Option.flatMap(service, keyOf)
    if (Option.isNone(service) || Option.isNone(key)) return Option.none()
    const { agent = "" } = yield* HttpRouter.params
    const once = request.headers["idempotency-key"]
    // wall clock: the service has signed a moment.
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const scope = once === undefined ? agent : `${agent}.${once}`
    if (!isSigned(key.value, signature, now, scope, yield* Effect.orDie(request.text))) return Option.none()
    // Outside, whatever its roles: it has brought no token that stands further in.
    return yield* Effect.option(tokens.again(service.value.id, "crossroads"))
  })

  return <A, E, R>(app: Effect.Effect<A, E, R>, signature: string) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const caller = yield* signer(signature)
      // No such service, and signed by another: the two look alike.
      if (Option.isNone(caller))
        return yield* acting.refused(new Unauthenticated({ reason: "service" }), senderOf(request), "services")
      const { correlationId } = yield* currentCause
      return yield* acting.as(caller.value, correlationId, app, bytesOf(request))
    }).pipe(withRefusalHeaders)
})

export const layerAuthentication = Layer.effect(
  Authentication,
  // The token is read in one place for every door, and not from what this one's library has read.
  Effect.map(Effect.all([actingAsBearer, actingAsService]), ([asBearer, asService]) =>
    Authentication.of({
      bearer: (app, { endpoint }) =>
        Context.get(endpoint.annotations, TakesSignature)
          ? Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
              headers[signatureHeader] === undefined ? asBearer(app) : asService(app, headers[signatureHeader]),
            )
          : asBearer(app),
    }),
  ),
)
