import { Api, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Delegations } from "../../../../access/rights/delegation/Delegations.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findIfPermitted } from "../../../../access/rights/FindIfPermitted.ts"
import { Explanations } from "../../../../calls/catalogue/Explanations.ts"
import { makeTypicalCaller } from "../../../../access/rights/TypicalCaller.ts"
import { Principals } from "../../../../access/identity/Principals.ts"
import { RightsChanges } from "../../../../decisions/RightsChanges.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const grantsHandlers = HttpApiBuilder.group(
  Api,
  "grants",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const explanations = yield* Explanations
    const standing = yield* makeTypicalCaller
    const principals = yield* Principals
    const changes = yield* RightsChanges
    return handlers.handleAll({
      list: ({ query }) => Effect.andThen(grants.require("read", "grants/*"), grants.list(query)),
      add: ({ payload }) => changes.addGrant(payload),
      revoke: ({ params }) => changes.revokeGrant(params.id),
      judge: Effect.fnUntraced(function* ({ query }) {
        const caller = yield* Caller
        if (query.explain === "true") {
          const mayLook = (yield* grants.judge(caller, "read", "grants/*")).verdict === "allow"
          const who = query.principal === undefined ? caller : yield* standing(query.principal)
          const space = query.space === undefined ? {} : { space: query.space }
          return yield* explanations.explain(who, query.action, query.resource, { mayLook, ...space })
        }
        if (query.principal === undefined) return yield* grants.judge(caller, query.action, query.resource)
        const ref = query.principal
        const other = yield* findIfPermitted(grants, principals.get(ref), { ref, action: "read", of: "grants" })
        return yield* grants.judgeOf(other, query.action, query.resource)
      }),
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
