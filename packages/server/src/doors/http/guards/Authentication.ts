/**
 * Lets a request act as the bearer of its token, or answers 401. Every endpoint of the API uses it. If the endpoint
 * accepts signatures, a service may sign its request instead, so that no credential travels that could be stolen.
 */
import { Authentication, TakesSignature } from "@stoa/contract"
import { Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { signatureHeader } from "../../../calls/waiting/Signatures.ts"
import { currentCause } from "../../../store/journal/Correlation.ts"
import { Acting, headersOf, type Sender } from "../../Acting.ts"
import type { NodeRequest } from "../../node/NodeRequest.ts"
import { Upkeep } from "../../Upkeep.ts"
import { noSession, sessionIn } from "./sessionCookie.ts"

export const senderOf = (request: HttpServerRequest.HttpServerRequest): Sender => ({
  authorization: request.headers["authorization"],
  address: Option.getOrUndefined(request.remoteAddress),
})

/** Removes an expired session from the browser, so that it is not tried again and again. */
const forgetSession = (address: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", noSession(address))),
  )

/** The size of the body; a chunked body has to be read first. */
const bytesOf = (request: HttpServerRequest.HttpServerRequest): number | Effect.Effect<number> =>
  request.headers["transfer-encoding"] === undefined
    ? Number(request.headers["content-length"] ?? 0)
    : Effect.map(Effect.orDie(request.arrayBuffer), ({ byteLength }) => byteLength)

const sizeAndAnswer = (request: HttpServerRequest.HttpServerRequest) => ({
  bytes: bytesOf(request),
  response: (request as NodeRequest).response,
})

/** Adds the headers of a refusal to the answer. */
export const withRefusalHeaders = <A, E, R>(app: Effect.Effect<A, E, R>) =>
  Effect.tapError(app, (error) =>
    HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeaders(response, headersOf(error))),
    ),
  )

/** Acts as the principal of the request's token. */
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
        return yield* acting.as(caller, correlationId, app, sizeAndAnswer(request))
      }).pipe(withRefusalHeaders),
)

const serviceHeader = "stoa-service"

/** Acts as the service that the request names, if its key has signed whom it calls and what it says. */
const actingAsService = Effect.map(
  Acting,
  (acting) =>
    <A, E, R>(app: Effect.Effect<A, E, R>, signature: string) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { agent = "" } = yield* HttpRouter.params
        const caller = yield* acting.identifyService(senderOf(request), {
          service: request.headers[serviceHeader] ?? "",
          signature,
          agent,
          key: request.headers["idempotency-key"] ?? "",
          body: Effect.orDie(request.text),
        })
        const { correlationId } = yield* currentCause
        return yield* acting.as(caller, correlationId, app, sizeAndAnswer(request))
      }).pipe(withRefusalHeaders),
)

export const layerAuthentication = Layer.effect(
  Authentication,
  // All doors read the token in one place, so this one ignores what effect/http-api has read.
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
