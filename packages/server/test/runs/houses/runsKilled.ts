/** kill -9 of a house that is alone with its database, so many times: for the suite, and for the long one. */
import { randomInt } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../../test/pause.ts"
import { type homes, kill, look, send, start, token } from "../../killedHouse.ts"
import { allEnded, checkHistory, furnish, notebook, rules, tellAll } from "./runsHistory.ts"
import { config } from "../runsKit.ts"

const names = ["bot0", "bot1", "bot2", "bot3"]

type Home = (typeof homes)[number][1]

/** Two agents that answer each other in a DM until the limit of depth, and a kill while a hop is worked on. */
export const killedBetweenHops = (home: Home) =>
  Effect.gen(function* () {
    const at = yield* home
    const asking = [
      { when: { step: 1 }, waitMs: 300, call: [{ tool: "post_message", input: { space: "hops", text: "and you?" } }] },
    ]
    writeFileSync(join(at.args[0]!, "rules.json"), JSON.stringify({ rules: asking }))
    let house = yield* start(at, config)
    const post = (path: string, body: object, who = token) => send(house.url, who, "POST", path, body)
    for (const name of ["ping", "pong"]) {
      yield* post("/principals", { kind: "agent", name })
      yield* send(house.url, token, "PATCH", `/agents/${name}`, { model: "demo", limits: { depth: 3 } })
    }
    const { body } = yield* post("/tokens", { principal: "ping" })
    const made = yield* post("/spaces", { name: "hops", kind: "dm", members: ["pong"] }, body["token"] as string)
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    yield* post("/agents/ping/trigger", { text: "go" })
    const runs = Effect.map(
      Effect.suspend(() => send(house.url, token, "GET", "/runs?limit=20")),
      (answer) => answer.body["items"] as ReadonlyArray<{ readonly depth: number; readonly state: string }>,
    )
    for (const depth of [1, 2]) {
      while (!(yield* runs).some((run) => run.depth === depth && run.state === "running")) yield* Effect.promise(pause)
      yield* kill(at, house.child)
      house = yield* start(at, config)
    }
    while (!(yield* runs).some((run) => run.depth === 3 && run.state === "completed")) yield* Effect.promise(pause)
    yield* kill(at, house.child)
    const left = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql<{ chainDepth: number; fence: number }>`SELECT chain_depth, fence FROM runs ORDER BY id`
    })
    const kept = yield* look(at, left)
    assert.deepStrictEqual(
      kept.map(({ chainDepth }) => chainDepth),
      [0, 1, 2, 3],
    )
    // Those that were at work when the house died were taken over.
    assert.isTrue(kept.slice(1, 3).every(({ fence }) => fence > kept[0]!.fence))
  })

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
