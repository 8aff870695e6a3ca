import { Api, Caller, Missing } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/rights/Grants.ts"
import { Principals } from "../../../access/identity/Principals.ts"
import { Journal } from "../../../store/journal/Journal.ts"

export const grantsHandlers = HttpApiBuilder.group(
  Api,
  "grants",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const principals = yield* Principals
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: ({ query }) => Effect.andThen(grants.require("read", "grants/*"), grants.list(query)),
      add: Effect.fnUntraced(function* ({ payload }) {
        const whose = yield* principals.get(payload.principal)
        // A grant can give anything, so giving one is an admin's act.
        yield* grants.require("admin", `grants/${whose.name}`)
        return yield* transact(grants.add({ ...payload, principal: whose.id }))
      }),
      revoke: ({ params }) =>
        Effect.andThen(grants.require("delete", `grants/${params.id}`), transact(grants.revoke(params.id))),
      judge: Effect.fnUntraced(function* ({ query }) {
        const caller = yield* Caller
        if (query.principal === undefined) return yield* grants.judge(caller, query.action, query.resource)
        const other = yield* principals.get(query.principal)
        yield* grants.require("read", `grants/${other.name}`)
        return yield* grants.judgeOf(other, query.action, query.resource)
      }),
    })
  }),
)

export const delegationsHandlers = HttpApiBuilder.group(
  Api,
  "delegations",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const { transact } = yield* Journal
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { principal } = yield* Caller
        return yield* grants.delegations(principal, query)
      }),
      add: ({ payload }) => transact(grants.delegate(payload)),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const caller = yield* Caller
        const delegation = yield* grants.getDelegation(params.id)
        const { verdict } = yield* grants.judge(caller, "delete", `delegations/${params.id}`)
        // Giver and admin may take it back; to anybody else it is not there.
        if (delegation.from !== caller.principal.id && verdict !== "allow")
          return yield* new Missing({ noun: "delegation", ref: params.id })
        yield* transact(grants.undelegate(params.id))
      }),
    })
  }),
)
