/**
 * Who sends a result: the bearer of a token, or the service that signed the raw body. Checked and counted before the
 * body is parsed, because anybody can send one. The call is the one that the router matched, the same that the handler
 * settles.
 */
import { Caller, Submitter, Submitting, Unauthenticated } from "@stoa/contract"
import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { makeCallbackCheck } from "../../../calls/waiting/Callbacks.ts"
import { Calls } from "../../../calls/Calls.ts"
import { signatureHeader } from "../../../calls/waiting/Signatures.ts"
import { Acting } from "../../Acting.ts"
import { actingAsBearer, senderOf, withRefusalHeaders } from "./Authentication.ts"

export const layerSubmitting = Layer.effect(
  Submitting,
  Effect.gen(function* () {
    const calls = yield* Calls
    const acting = yield* Acting
    const asBearer = yield* actingAsBearer
    const verify = yield* makeCallbackCheck
    const house = { principal: null as never, all: true }

    const isSigned = Effect.fnUntraced(function* (id: string, signature: string) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const call = yield* Effect.option(calls.get(id, house))
      // An unknown call and a wrong signature get the same answer.
      return (
        Option.isSome(call) &&
        call.value.onKind === "callback" &&
        (yield* verify(call.value, signature, yield* Effect.orDie(request.text)))
      )
    })

    return Submitting.of((app, { endpoint }) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const signature = request.headers[signatureHeader]
        if (signature === undefined)
          return yield* asBearer(
            Effect.flatMap(Caller, ({ principal }) => Effect.provideService(app, Submitter, { principal })),
          )
        const { call = "" } = yield* HttpRouter.params
        if (yield* isSigned(call, signature)) return yield* Effect.provideService(app, Submitter, { principal: null })
        return yield* acting.refused(
          new Unauthenticated({ reason: "signature" }),
          senderOf(request),
          endpoint.identifier,
        )
      }).pipe(withRefusalHeaders),
    )
  }),
)
