/** kill -9 of a whole house, ten times on each database, while agents work: each step once, each tool once, nothing lost or stuck. */
import { describe, it } from "@effect/vitest"
import { homes } from "../../killedHouse.ts"
import { killedAlone, killedBetweenHops } from "./runsKilled.ts"

for (const [name, home] of homes)
  describe.concurrent(`runs and kill -9 on ${name}`, () => {
    it.live(
      "G-23 S0-66 ten random kills: every run ends, each step and each call is written once, no tool acts twice",
      () => killedAlone(home, 10),
      600_000,
    )

    it.live(
      "S0-66 killed twice between the hops of a chain: each run has its depth, and the chain ends at the limit",
      () => killedBetweenHops(home),
      120_000,
    )
  })
