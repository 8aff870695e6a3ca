import { Api, Caller, type Token } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Principals } from "../../../../access/identity/Principals.ts"
import { Tokens } from "../../../../access/identity/Tokens.ts"
import { Authority } from "../../../../access/rights/delegation/Authority.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findOrRefuse } from "../../../../access/rights/FindIfPermitted.ts"
import { makeTokenList } from "../../../../access/rights/TokenList.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const tokensHandlers = HttpApiBuilder.group(
  Api,
  "tokens",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const authority = yield* Authority
    const principals = yield* Principals
    const tokens = yield* Tokens
    const list = yield* makeTokenList
    const { transact } = yield* Journal

    const found = Effect.fnUntraced(function* (id: Token["id"]) {
      const token = yield* tokens.get(id)
      return { token, whose: yield* principals.get(token.principal) }
    })

    return handlers.handleAll({
      list: ({ query }) => list(query),
      add: Effect.fnUntraced(function* ({ payload }) {
        // Judged by the principal's name, however the request spells it.
        const { principal: ref } = payload
        const whose = yield* findOrRefuse(grants, principals.get(ref), { ref, action: "write", of: "tokens" })
        const wanted = yield* authority.token(payload, whose)
        return yield* transact(tokens.issue({ ...wanted, principal: whose.id }, { caller: yield* Caller }))
      }),
      rotate: Effect.fnUntraced(function* ({ params }) {
        const { token, whose } = yield* found(params.id)
        const latest = yield* authority.rotation(token, whose)
        return yield* transact(tokens.rotate(token.id, { caller: yield* Caller, latest }))
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const { token, whose } = yield* found(params.id)
        yield* authority.revocation(token, whose)
        yield* transact(tokens.revoke(token.id, yield* Caller))
      }),
    })
  }),
)
