import { AllowList, Api, type WaitingChange } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AllowLists } from "../../../../access/rights/AllowLists.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Catalogue } from "../../../../calls/catalogue/Catalogue.ts"
import { RightsChanges } from "../../../../decisions/RightsChanges.ts"

export const allowListsHandlers = HttpApiBuilder.group(
  Api,
  "allowLists",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const lists = yield* AllowLists
    const changes = yield* RightsChanges
    const { serves } = yield* Catalogue
    /** Configured tools and servers come and go: a name that nobody has is stored, with a note in the answer. */
    const noted = Effect.fnUntraced(function* (list: AllowList) {
      if (list.toolset !== "configured" && list.toolset !== "upstream") return list
      const unknown: Array<string> = []
      for (const name of list.tools) if (name !== "*" && !(yield* serves(list.toolset, name))) unknown.push(name)
      return new AllowList({ ...list, unknown })
    })
    const notedOrWaiting = (made: AllowList | WaitingChange): Effect.Effect<AllowList | WaitingChange> =>
      made instanceof AllowList ? noted(made) : Effect.succeed(made)
    return handlers.handleAll({
      list: () =>
        Effect.andThen(
          require("read", "allow-lists/*"),
          Effect.flatMap(lists.list, (page) =>
            Effect.map(Effect.forEach(page.items, noted), (items) => ({ ...page, items })),
          ),
        ),
      get: ({ params: { context, toolset } }) =>
        Effect.andThen(
          require("read", `allow-lists/${toolset}/${context}`),
          Effect.flatMap(lists.get(toolset, context), noted),
        ),
      set: ({ params: { context, toolset }, payload }) =>
        Effect.flatMap(changes.setAllowList(toolset, context, payload.tools), notedOrWaiting),
      reset: ({ params: { context, toolset } }) =>
        Effect.flatMap(changes.resetAllowList(toolset, context), notedOrWaiting),
    })
  }),
)
