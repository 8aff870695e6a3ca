import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Demo } from "../../../../demo/Demo.ts"

export const demoHandlers = HttpApiBuilder.group(
  Api,
  "demo",
  Effect.fn(function* (handlers) {
    const demo = yield* Demo
    return handlers.handleAll({
      get: () => demo.get,
      change: ({ payload }) => demo.change(payload),
      remove: () => demo.remove,
    })
  }),
)
