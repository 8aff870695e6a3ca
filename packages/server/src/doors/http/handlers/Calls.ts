import { Api, Caller, Unauthenticated } from "@stoa/contract"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/Grants.ts"
import { callFrom, Calls } from "../../../calls/Calls.ts"
import { makeCallbackCheck } from "../../../calls/Callbacks.ts"
import { signatureHeader } from "../../../calls/Signatures.ts"
import { Acting } from "../Authentication.ts"

/** The caller as calls know it: their maker, or one who may look everywhere. */
const makeCallReader = Effect.map(Grants, (grants) =>
  Effect.gen(function* () {
    const caller = yield* Caller
    const { verdict } = yield* grants.judge(caller, "admin", "calls/*")
    return { principal: caller.principal, all: verdict === "allow" }
  }),
)

export const callsHandlers = HttpApiBuilder.group(
  Api,
  "calls",
  Effect.fn(function* (handlers) {
    const calls = yield* Calls
    const reader = yield* makeCallReader
    const mine = (id: string) => Effect.flatMap(reader, (who) => calls.get(id, who))
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { items, next } = yield* calls.list(yield* reader, query)
        return { items: items.map(callFrom), next }
      }),
      get: Effect.fnUntraced(function* ({ params, query }) {
        const call = yield* mine(params.call)
        return callFrom(query.wait === undefined ? call : yield* calls.settled(call.id, query.wait * 1000))
      }),
      cancel: Effect.fnUntraced(function* ({ params }) {
        const call = yield* mine(params.call)
        const { principal } = yield* Caller
        return callFrom(yield* calls.cancel(call.id, `Canceled by ${principal.name}`))
      }),
    })
  }),
)

export const resultsHandlers = HttpApiBuilder.group(
  Api,
  "results",
  Effect.fn(function* (handlers) {
    const calls = yield* Calls
    const acting = yield* Acting
    const verify = yield* makeCallbackCheck
    const house = { principal: null as never, all: true }
    return handlers.handle("submit", ({ params, payload, request }) =>
      Effect.gen(function* () {
        const signature = request.headers[signatureHeader]
        if (signature !== undefined) {
          const call = yield* calls.get(params.call, house)
          // Unknown, and signed by another: the two look alike.
          if (call.onKind !== "callback" || !(yield* verify(call, signature, yield* Effect.orDie(request.text))))
            return yield* new Unauthenticated({ reason: "refused" })
          return callFrom(yield* calls.result(params.call, null, payload))
        }
        const [scheme = "", token = ""] = (request.headers["authorization"] ?? "").split(" ")
        const credential = Redacted.make(scheme.toLowerCase() === "bearer" ? token : "")
        const submit = Effect.gen(function* () {
          const { principal } = yield* Caller
          return callFrom(yield* calls.result(params.call, principal, payload))
        })
        return yield* acting.as(credential, submit)
      }),
    )
  }),
)
