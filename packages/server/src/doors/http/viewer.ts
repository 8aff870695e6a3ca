/** The caller as the rooms know it: who looks, and whether it may look everywhere. */
import { Caller } from "@stoa/contract"
import { Effect } from "effect"
import { Grants } from "../../access/Grants.ts"
import type { Viewer } from "../../spaces/Spaces.ts"

export const makeViewer = Effect.map(Grants, (grants) =>
  Effect.gen(function* () {
    const caller = yield* Caller
    const { verdict } = yield* grants.judge(caller, "admin", "spaces/*")
    const viewer: Viewer = { principal: caller.principal, all: verdict === "allow" }
    return viewer
  }),
)
