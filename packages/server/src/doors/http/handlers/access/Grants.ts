import { Api, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Delegations } from "../../../../access/rights/delegation/Delegations.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Explanations } from "../../../../calls/catalogue/Explanations.ts"
import { RightsChanges } from "../../../../decisions/RightsChanges.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const grantsHandlers = HttpApiBuilder.group(
  Api,
  "grants",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const explanations = yield* Explanations
    const changes = yield* RightsChanges
    return handlers.handleAll({
      list: ({ query }) => grants.list(query),
      add: ({ payload }) => changes.addGrant(payload),
      revoke: ({ params }) => changes.revokeGrant(params.id),
      judge: ({ query: { explain, ...question } }) => explanations[explain === "true" ? "explain" : "judge"](question),
    })
  }),
)

export const delegationsHandlers = HttpApiBuilder.group(
  Api,
  "delegations",
  Effect.fn(function* (handlers) {
    const delegations = yield* Delegations
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: ({ query }) => Effect.flatMap(Caller, ({ principal }) => delegations.list(principal, query)),
      add: ({ payload }) => transact(delegations.add(payload)),
      revoke: ({ params }) => transact(delegations.revoke(params.id)),
    })
  }),
)
