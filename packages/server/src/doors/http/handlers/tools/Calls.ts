import { Api, Caller, Submitter } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { callFrom, Calls } from "../../../../calls/Calls.ts"

export const callsHandlers = HttpApiBuilder.group(
  Api,
  "calls",
  Effect.fn(function* (handlers) {
    const calls = yield* Calls
    const reader = (yield* Grants).viewer("calls")
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
        const { principal } = yield* Caller
        return callFrom(yield* calls.cancel(params.call, yield* reader, `Canceled by ${principal.name}`))
      }),
    })
  }),
)

export const resultsHandlers = HttpApiBuilder.group(
  Api,
  "results",
  Effect.fn(function* (handlers) {
    const calls = yield* Calls
    return handlers.handle(
      "submit",
      Effect.fnUntraced(function* ({ params, payload }) {
        const { by } = yield* Submitter
        return callFrom(yield* calls.result(params.call, by, payload))
      }),
    )
  }),
)
