import { Api, Caller } from "@stoa/contract"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Authority } from "../../../../access/rights/delegation/Authority.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findIfPermitted } from "../../../../access/rights/FindIfPermitted.ts"
import { makeVisiblePrincipal } from "../../../../access/rights/VisiblePrincipal.ts"
import { Principals } from "../../../../access/identity/Principals.ts"
import { makeHandedServiceKey } from "../../../../access/secrets/ServiceKeys.ts"
import { RightsChanges } from "../../../../decisions/RightsChanges.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const principalsHandlers = HttpApiBuilder.group(
  Api,
  "principals",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const { require } = grants
    const principals = yield* Principals
    const authority = yield* Authority
    const changes = yield* RightsChanges
    const { transact } = yield* Journal
    const visible = yield* makeVisiblePrincipal
    const handOut = yield* makeHandedServiceKey
    const named = (ref: string) =>
      findIfPermitted(grants, principals.get(ref), { ref, action: "read", of: "principals" })
    return handlers.handleAll({
      me: () => Effect.map(Caller, ({ principal }) => principal),
      get: ({ params }) => named(params.principal),
      list: ({ query: { ids, ...query } }) =>
        Effect.andThen(
          require("read", "principals/*"),
          principals.list(ids === undefined ? query : { ...query, ids: ids.split(",") }),
        ),
      agents: ({ query }) =>
        Effect.andThen(require("read", "principals/*"), principals.list({ ...query, kind: "agent" })),
      add: Effect.fnUntraced(function* ({ payload }) {
        yield* authority.newPrincipal(payload)
        if (payload.owner !== undefined) yield* visible(payload.owner)
        return yield* transact(principals.add(payload))
      }),
      change: Effect.fnUntraced(function* ({ params, payload }) {
        const principal = yield* named(params.principal)
        return yield* changes.changePrincipal(principal, payload)
      }),
      signingKey: ({ params }) => Effect.map(handOut(params.principal), (key) => ({ key: Redacted.value(key) })),
      retire: Effect.fnUntraced(function* ({ params }) {
        const principal = yield* named(params.principal)
        yield* require("delete", `principals/${principal.name}`)
        yield* transact(principals.retire(principal.id))
      }),
    })
  }),
)
