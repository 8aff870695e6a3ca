/** A create with an Idempotency-Key happens once: this reads the key and the request, the room stores them. */
import { BadInput, Caller, Idempotency, IdempotencyKey } from "@stoa/contract"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type KeyedRequest, keyedRequestOf, IdempotencyKeys } from "../../../access/identity/IdempotencyKeys.ts"
import { Journal } from "../../../store/journal/Journal.ts"

const isKey = Schema.is(IdempotencyKey)

/** The key of a request, if it carries one. */
export const idempotencyKeyOf = (
  request: Pick<HttpServerRequest.HttpServerRequest, "headers">,
): Effect.Effect<string | undefined, BadInput> => {
  const key = request.headers["idempotency-key"]
  return key === undefined || isKey(key)
    ? Effect.succeed(key)
    : Effect.fail(
        new BadInput({ issues: [{ path: "headers.idempotency-key", message: "must have 1 to 200 characters" }] }),
      )
}

/** The request as the router matched it and the handler gets it, if it has a key. */
export const keyedRequest: Effect.Effect<
  KeyedRequest | undefined,
  BadInput,
  Caller | HttpServerRequest.HttpServerRequest | HttpServerRequest.ParsedSearchParams | HttpRouter.RouteContext
> = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const key = yield* idempotencyKeyOf(request)
  if (key === undefined) return undefined
  const { params, route } = yield* HttpRouter.RouteContext
  const query = yield* HttpServerRequest.ParsedSearchParams
  const body = yield* Effect.orDie(request.text)
  return keyedRequestOf(yield* Caller, key, [route.method, route.path, params, query, body])
})

export const layerIdempotency = Layer.effect(
  Idempotency,
  Effect.gen(function* () {
    const { transact } = yield* Journal
    const keys = yield* IdempotencyKeys

    const once = Effect.fnUntraced(function* <E, R>(
      app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
      request: KeyedRequest,
    ) {
      const before = yield* keys.claim(request)
      if (before !== undefined) return HttpServerResponse.uint8Array(before, { contentType: "application/json" })
      const answer = yield* app
      yield* keys.keep(request, answer.body._tag === "Uint8Array" ? answer.body.body : new Uint8Array())
      return answer
    })

    return Idempotency.of((app) =>
      Effect.flatMap(keyedRequest, (request) => (request === undefined ? app : transact(once(app, request)))),
    )
  }),
)
