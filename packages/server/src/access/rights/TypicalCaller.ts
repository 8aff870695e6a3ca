/** A principal as a caller with its usual token, for those who may read its rights. */
import type { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { usualContext } from "../identity/contexts.ts"
import { Principals } from "../identity/Principals.ts"
import { Tokens } from "../identity/Tokens.ts"
import { Grants } from "./Grants.ts"
import { findIfPermitted } from "./FindIfPermitted.ts"

export const makeTypicalCaller = Effect.gen(function* () {
  const principals = yield* Principals
  const tokens = yield* Tokens
  const grants = yield* Grants
  return Effect.fnUntraced(function* (ref: string) {
    const other = yield* findIfPermitted(grants, principals.get(ref), { ref, action: "read", of: "grants" })
    const who: Caller["Service"] = yield* tokens.callerNow(other.id, usualContext(other))
    return who
  })
})
