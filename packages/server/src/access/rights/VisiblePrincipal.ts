/** A principal that the caller names: itself, or one that it may see. Whether there are others, it does not learn. */
import { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../identity/Principals.ts"
import { findVisible } from "./FindIfPermitted.ts"
import { Grants } from "./Grants.ts"

export const makeVisiblePrincipal = Effect.gen(function* () {
  const grants = yield* Grants
  const principals = yield* Principals
  return Effect.fnUntraced(function* (ref: string) {
    const { principal } = yield* Caller
    return yield* findVisible(grants, principals.get(ref), { ref, self: principal.id })
  })
})
