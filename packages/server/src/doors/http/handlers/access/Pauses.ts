import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { makePausing } from "../../../../calls/waiting/Pausing.ts"

export const pausesHandlers = HttpApiBuilder.group(
  Api,
  "pauses",
  Effect.fn(function* (handlers) {
    const pauses = yield* makePausing
    return handlers.handleAll({
      list: () => pauses.list,
      set: ({ payload }) => pauses.set(payload),
      lift: ({ params }) => pauses.lift(params.subject),
    })
  }),
)
