/**
 * Who sends a result: the bearer of a token, or the service that signed the raw body. Checked and counted before the
 * body is parsed, because anybody can send one. The call is the one that the router matched, the same that the handler
 * settles.
 */
import { Caller, Submitter, Submitting } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { signatureHeader } from "../../../calls/waiting/Signatures.ts"
import { currentCause } from "../../../store/journal/Correlation.ts"
import { Acting } from "../../Acting.ts"
import { actingAsBearer, senderOf, withRefusalHeaders } from "./Authentication.ts"

export const layerSubmitting = Layer.effect(
  Submitting,
  Effect.gen(function* () {
    const acting = yield* Acting
    const asBearer = yield* actingAsBearer

    return Submitting.of((app) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const signature = request.headers[signatureHeader]
        if (signature === undefined)
          return yield* asBearer(Effect.flatMap(Caller, (by) => Effect.provideService(app, Submitter, { by })))
        const { call = "" } = yield* HttpRouter.params
        const body = Effect.orDie(request.text)
        const by = yield* acting.identifyResult(senderOf(request), { call, signature, body })
        const { correlationId } = yield* currentCause
        return yield* acting.asTool(by.tool, correlationId, Effect.provideService(app, Submitter, { by }))
      }).pipe(withRefusalHeaders),
    )
  }),
)
