/** kill -9 of a house that is alone with its database, so many times: for the suite, and for the long one. */
import { randomInt } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { type homes, kill, look, start } from "../../killedHouse.ts"
import { allEnded, checkHistory, furnish, notebook, rules, tellAll } from "./runsHistory.ts"
import { config } from "../runsKit.ts"

const names = ["bot0", "bot1", "bot2", "bot3"]

type Home = (typeof homes)[number][1]

export const killedAlone = (home: Home, kills: number) =>
  Effect.gen(function* () {
    const at = yield* home
    const { seen, url } = yield* notebook
    writeFileSync(join(at.args[0]!, "rules.json"), JSON.stringify({ rules }))
    let house = yield* start(at, config)
    yield* furnish(house.url, url, names)
    const accepted: Array<string> = []
    for (let killed = 0; killed < kills; killed++) {
      accepted.push(...(yield* tellAll(house.url, names, `work ${killed}`)))
      yield* Effect.sleep(randomInt(0, 60))
      yield* kill(at, house.child)
      house = yield* start(at, config)
    }
    yield* allEnded(house.url)
    yield* kill(at, house.child)
    yield* look(at, checkHistory(accepted, seen))
  })
