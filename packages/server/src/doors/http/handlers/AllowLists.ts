import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AllowLists } from "../../../access/AllowLists.ts"
import { Grants } from "../../../access/Grants.ts"
import { Journal } from "../../../store/Journal.ts"

export const allowListsHandlers = HttpApiBuilder.group(
  Api,
  "allowLists",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const lists = yield* AllowLists
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "allow-lists/*"), lists.list),
      get: ({ params: { context, toolset } }) =>
        Effect.andThen(require("read", `allow-lists/${toolset}/${context}`), lists.get(toolset, context)),
      set: ({ params: { context, toolset }, payload }) =>
        Effect.andThen(
          require("write", `allow-lists/${toolset}/${context}`),
          transact(lists.set(toolset, context, payload.tools)),
        ),
    })
  }),
)
