/** The space in which a call is made, and whether its caller may call there. */
import type { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { Grants } from "../../access/rights/Grants.ts"
import { Spaces } from "../../spaces/Spaces.ts"

export const makeCallSpace = Effect.gen(function* () {
  const grants = yield* Grants
  const spaces = yield* Spaces
  return Effect.fnUntraced(function* (named: string, caller: Caller["Service"]) {
    const viewer = yield* grants.viewerOf(caller, "spaces")
    const space = yield* spaces.get(named, viewer)
    yield* spaces.require("call", space, viewer)
    return space.id
  })
})
