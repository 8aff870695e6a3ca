/** Lets a request act as the bearer of its token, or answers 401. Every endpoint of the API uses it. */
import { Authentication } from "@stoa/contract"
import { Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
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

export const layerAuthentication = Layer.effect(
  Authentication,
  // The token is read in one place for every door, and not from what this one's library has read.
  Effect.map(actingAsBearer, (act) => Authentication.of({ bearer: (app) => act(app) })),
)
