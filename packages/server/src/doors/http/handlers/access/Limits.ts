import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Limits } from "../../../../access/limits/Limits.ts"

export const limitsHandlers = HttpApiBuilder.group(
  Api,
  "limits",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const limits = yield* Limits
    return handlers.handle("list", () =>
      Effect.andThen(
        require("read", "limits/*"),
        Effect.map(limits.list, (items) => ({ items, next: null })),
      ),
    )
  }),
)
