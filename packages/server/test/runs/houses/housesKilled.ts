/** kill -9 of one of two houses while agents work, so many times: for the suite, and for the long one. */
import { randomInt } from "node:crypto"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { cluster, open, type Open } from "./housesKit.ts"
import { allEnded, checkHistory, furnish, notebook, rules, tellAll } from "./runsHistory.ts"

const names = ["bot0", "bot1", "bot2", "bot3"]

export const killing = (kills: number) =>
  it.live(
    `G-23 ${kills} random kills of one of two houses: nothing is lost, nothing happens twice, nothing is stuck`,
    () =>
      Effect.gen(function* () {
        const on = yield* cluster
        on.rules(rules)
        const { seen, url } = yield* notebook
        const houses: Array<Open> = [yield* open(on), yield* open(on)]
        yield* furnish(houses[0]!.url, url, names)
        const accepted: Array<string> = []
        for (let killed = 0; killed < kills; killed++) {
          accepted.push(...(yield* tellAll(houses[killed % 2]!.url, names, `work ${killed}`)))
          yield* Effect.sleep(randomInt(0, 60))
          const victim = randomInt(0, 2)
          yield* houses[victim]!.child.kill
          houses[victim] = yield* open(on)
        }
        yield* allEnded(houses[0]!.url)
        yield* on.look(checkHistory(accepted, seen))
        for (const { child } of houses) yield* child.kill
      }),
    60_000 * kills,
  )
