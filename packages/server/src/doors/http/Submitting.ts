/**
 * Who brings a result: the bearer of a token, or the service whose signature the raw body carries. Asked before anybody
 * parses the body, and counted, since whoever has neither may send what they like.
 */
import { Caller, Submitter, Submitting, Unauthenticated } from "@stoa/contract"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Limits } from "../../access/limits/Limits.ts"
import { makeCallbackCheck } from "../../calls/waiting/Callbacks.ts"
import { Calls } from "../../calls/Calls.ts"
import { signatureHeader } from "../../calls/waiting/Signatures.ts"
import { Acting } from "./Authentication.ts"

const callIn = (url: string): string => /\/calls\/([^/?]+)\/result/.exec(url)?.[1] ?? ""

export const layerSubmitting = Layer.effect(
  Submitting,
  Effect.gen(function* () {
    const calls = yield* Calls
    const acting = yield* Acting
    const limits = yield* Limits
    const verify = yield* makeCallbackCheck
    const house = { principal: null as never, all: true }

    const isSigned = Effect.fnUntraced(function* (signature: string) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const call = yield* Effect.option(calls.get(callIn(request.url), house))
      // Unknown, and signed by another: the two look alike.
      const good =
        Option.isSome(call) &&
        call.value.onKind === "callback" &&
        (yield* verify(call.value, signature, yield* Effect.orDie(request.text)))
      if (!good) yield* limits.takeGuess(Option.getOrElse(request.remoteAddress, () => "unknown"))
      return good
    })

    return Submitting.of((app) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const signature = request.headers[signatureHeader]
        if (signature !== undefined)
          return (yield* isSigned(signature))
            ? yield* Effect.provideService(app, Submitter, { principal: null })
            : yield* new Unauthenticated({ reason: "signature" })
        const [scheme = "", token = ""] = (request.headers["authorization"] ?? "").split(" ")
        const credential = Redacted.make(scheme.toLowerCase() === "bearer" ? token : "")
        const submit = Effect.flatMap(Caller, ({ principal }) => Effect.provideService(app, Submitter, { principal }))
        return yield* acting.as(credential, submit)
      }),
    )
  }),
)
