import { Api, Caller, WrongState } from "@stoa/contract"
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Authority } from "../../../../access/rights/delegation/Authority.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findIfPermitted } from "../../../../access/rights/FindIfPermitted.ts"
import { Principals } from "../../../../access/identity/Principals.ts"
import { makeServiceKey } from "../../../../access/secrets/ServiceKeys.ts"
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
    const keyOf = yield* makeServiceKey
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
        return yield* transact(principals.add(payload))
      }),
      change: Effect.fnUntraced(function* ({ params, payload }) {
        const principal = yield* named(params.principal)
        return yield* changes.changePrincipal(principal, payload)
      }),
      // The key lets its holder act as the service, so it needs the same right as creating the service's token.
      signingKey: Effect.fnUntraced(function* ({ params }) {
        const principal = yield* named(params.principal)
        yield* authority.token({ principal: principal.id }, principal)
        const key = keyOf(principal)
        if (Option.isSome(key)) return { key: Redacted.value(key.value) }
        return yield* new WrongState({
          detail: `Only active services have a signing key; ${principal.name} is ${principal.retiredAt === null ? `of kind ${principal.kind}` : "retired"}.`,
        })
      }),
      retire: Effect.fnUntraced(function* ({ params }) {
        const principal = yield* named(params.principal)
        yield* require("delete", `principals/${principal.name}`)
        yield* transact(principals.retire(principal.id))
      }),
    })
  }),
)
