/**
 * For endpoints that need no token: a body may be only as large as the question needs; a larger one is refused unread.
 */
import { SmallBody } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { NodeRequest } from "../../node/NodeRequest.ts"

const strangersBody = 16 * 1024

export const layerSmallBody = Layer.succeed(SmallBody, (app) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    ;(request as NodeRequest).limitBody(strangersBody)
    return app
  }),
)
