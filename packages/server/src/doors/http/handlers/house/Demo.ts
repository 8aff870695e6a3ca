import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Demo } from "../../../../demo/Demo.ts"

export const demoHandlers = HttpApiBuilder.group(
  Api,
  "demo",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const demo = yield* Demo
    return handlers.handleAll({
      get: () => Effect.andThen(require("read", "house/demo"), demo.get),
      change: ({ payload }) => Effect.andThen(require("admin", "house/demo"), demo.change(payload)),
      remove: () => Effect.andThen(require("admin", "house/demo"), demo.remove),
    })
  }),
)
