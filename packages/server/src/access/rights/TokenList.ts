/** The tokens that a caller may list: its own as `self/tokens`, another's by that principal's name, or everybody's. */
import { Caller, type PageQuery } from "@stoa/contract"
import { Effect, Exit } from "effect"
import { Principals } from "../identity/Principals.ts"
import { Tokens } from "../identity/Tokens.ts"
import { findIfPermitted } from "./FindIfPermitted.ts"
import { Grants } from "./Grants.ts"

export const makeTokenList = Effect.gen(function* () {
  const grants = yield* Grants
  const principals = yield* Principals
  const tokens = yield* Tokens

  const permitted = Effect.fnUntraced(function* (ref: string | undefined) {
    if (ref === undefined) return yield* grants.require("read", "tokens/*")
    const { principal } = yield* Caller
    const whose = yield* Effect.exit(principals.get(ref))
    if (Exit.isSuccess(whose) && whose.value.id === principal.id) return yield* grants.require("read", "self/tokens")
    yield* findIfPermitted(grants, whose, { ref, action: "read", of: "tokens" })
  })

  return (query: PageQuery & { readonly principal?: string }) =>
    Effect.andThen(permitted(query.principal), tokens.list(query))
})
