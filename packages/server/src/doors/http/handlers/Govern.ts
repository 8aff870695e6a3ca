import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AllowLists } from "../../../access/AllowLists.ts"
import { Audit } from "../../../access/Audit.ts"
import { Grants } from "../../../access/Grants.ts"
import { Limits } from "../../../access/Limits.ts"
import { Secrets } from "../../../access/Secrets.ts"
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

export const secretsHandlers = HttpApiBuilder.group(
  Api,
  "secrets",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const secrets = yield* Secrets
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: () => Effect.andThen(require("read", "secrets/*"), secrets.list),
      set: ({ params, payload }) =>
        Effect.andThen(require("write", `secrets/${params.name}`), transact(secrets.set(params.name, payload.value))),
      remove: ({ params }) =>
        Effect.andThen(require("delete", `secrets/${params.name}`), transact(secrets.remove(params.name))),
    })
  }),
)

export const auditHandlers = HttpApiBuilder.group(
  Api,
  "audit",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const audit = yield* Audit
    return handlers.handle("list", ({ query }) => Effect.andThen(require("read", "audit"), audit.list(query)))
  }),
)
