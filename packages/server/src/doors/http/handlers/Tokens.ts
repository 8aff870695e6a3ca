import { Api, Caller, Missing, type Token } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/rights/Grants.ts"
import { Principals } from "../../../access/identity/Principals.ts"
import { Tokens } from "../../../access/identity/Tokens.ts"
import { Journal } from "../../../store/journal/Journal.ts"

export const tokensHandlers = HttpApiBuilder.group(
  Api,
  "tokens",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const principals = yield* Principals
    const tokens = yield* Tokens
    const { transact } = yield* Journal

    /** One's own token is `self/tokens`; another's looks unknown to whoever may not touch it. */
    const reach = Effect.fnUntraced(function* (id: Token["id"], action: "write" | "delete") {
      const token = yield* tokens.get(id)
      const caller = yield* Caller
      const own = token.principal === caller.principal.id
      if (own) return yield* grants.require(action, "self/tokens")
      const owner = yield* principals.get(token.principal)
      const needed = owner.roles.includes("admin") ? "admin" : action
      const { verdict } = yield* grants.judge(caller, needed, `tokens/${owner.name}`)
      if (verdict !== "allow") return yield* new Missing({ noun: "token", ref: id })
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { principal } = yield* Caller
        const whose = query.principal === undefined ? undefined : yield* principals.get(query.principal)
        yield* whose?.id === principal.id
          ? grants.require("read", "self/tokens")
          : grants.require("read", whose === undefined ? "tokens/*" : `tokens/${whose.name}`)
        return yield* tokens.list(query)
      }),
      add: Effect.fnUntraced(function* ({ payload }) {
        // Judged by the name of whom it is for, however the request spells it.
        const whose = yield* principals.get(payload.principal)
        // A token is its principal: one that stands inside, or belongs to an admin, only an admin makes.
        const inside = payload.context === "internal" || whose.roles.includes("admin")
        yield* grants.require(inside ? "admin" : "write", `tokens/${whose.name}`)
        return yield* transact(tokens.issue({ ...payload, principal: whose.id }))
      }),
      rotate: ({ params }) => Effect.andThen(reach(params.id, "write"), transact(tokens.rotate(params.id))),
      revoke: ({ params }) => Effect.andThen(reach(params.id, "delete"), transact(tokens.revoke(params.id))),
    })
  }),
)
