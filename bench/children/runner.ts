/**
 * A whole house in this process with fifty agents that think by a script, or not at all; and the floor beside them: the rows
 * of such a run written by a bare loop on the same driver, without events, rights, calls, prompts or anybody who could go on
 * with it.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Agent, RunId } from "@stoa/contract"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { houseViewer } from "../../packages/server/src/access/rights/Viewer.ts"
import { Agents } from "../../packages/server/src/access/identity/Agents.ts"
import { Principals } from "../../packages/server/src/access/identity/Principals.ts"
import { layerHouse } from "../../packages/server/src/House.ts"
import { keysOf } from "../../packages/server/src/start/Opening.ts"
import { layerLog } from "../../packages/server/src/Log.ts"
import { Triggers } from "../../packages/server/src/runs/waking/Triggers.ts"
import { Settings } from "../../packages/server/src/Settings.ts"
import { Folder } from "../../packages/server/src/store/Folder.ts"
import { Journal } from "../../packages/server/src/store/journal/Journal.ts"
import { hello } from "../mcp/mcpMessages.ts"
import { roomy } from "../processes.ts"
import { layerWithoutModel, textOf } from "./engine.ts"
import { serveQuestions } from "./children.ts"

export type RunnerQuestion =
  | {
      readonly do: "open"
      readonly folder: string
      readonly rules: string
      readonly database?: string
      /** False: the engine alone. */
      readonly thinks: boolean
    }
  | {
      readonly do: "drive"
      readonly way: "house" | "floor"
      readonly steps: number
      readonly callers: number
      readonly millis: number
    }
  | { readonly do: "close" }
export interface RunnerAnswer {
  readonly perSecond: number
}

const agentsCount = 50

const layerAt = ({ database, folder, rules, thinks }: Extract<RunnerQuestion, { readonly do: "open" }>) => {
  const [data, config] = [join(folder, "data"), join(folder, "config.json")]
  writeFileSync(
    config,
    JSON.stringify({ ...roomy, tools: [hello], models: { script: { provider: "scripted", rules } } }),
  )
  const settings = Settings.layer({
    STOA_PORT: "0",
    STOA_DATA: data,
    STOA_CONFIG: config,
    STOA_SLOTS: String(agentsCount),
    ...(database === undefined ? {} : { DATABASE_URL: database }),
  })
  const ground = Layer.merge(Folder.layer(data), layerLog("none", false)).pipe(Layer.provideMerge(settings))
  const house = Layer.unwrap(Effect.map(keysOf, layerHouse)).pipe(Layer.provideMerge(ground))
  return thinks ? house : house.pipe(Layer.provide(layerWithoutModel))
}

const floorTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE floor_runs (id TEXT PRIMARY KEY, state TEXT NOT NULL, step INTEGER NOT NULL, fence INTEGER NOT NULL)`
  yield* sql`CREATE TABLE floor_steps (run TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (run, number))`
  yield* sql`CREATE TABLE floor_calls (run TEXT NOT NULL, step INTEGER NOT NULL, output TEXT NOT NULL, PRIMARY KEY (run, step))`
})

/** A row at its start, one fenced row a step, where there are calls one for each (the last step makes none), and its end. */
const floorRun = (sql: SqlClient.SqlClient, steps: number, calls: boolean) =>
  Effect.gen(function* () {
    const id = crypto.randomUUID()
    yield* sql`INSERT INTO floor_runs (id, state, step, fence) VALUES (${id}, 'running', 0, 1)`
    for (let number = 1; number <= steps; number++) {
      yield* sql`INSERT INTO floor_steps (run, number, content)
        SELECT id, ${number}, ${'[{"type":"text","text":""}]'} FROM floor_runs WHERE id = ${id} AND fence = 1`
      if (calls && number < steps)
        yield* sql`INSERT INTO floor_calls (run, step, output) VALUES (${id}, ${number}, ${'{"ok":true}'})`
    }
    yield* sql`UPDATE floor_runs SET state = 'completed', step = ${steps} WHERE id = ${id} AND fence = 1`
  })

const open = async (question: Extract<RunnerQuestion, { readonly do: "open" }>) => {
  const house = ManagedRuntime.make(layerAt(question))
  const waiting = new Map<RunId, () => void>()
  const over = new Set<RunId>()
  let faults = 0
  const made = Effect.gen(function* () {
    const journal = yield* Journal
    const principals = yield* Principals
    const agents = yield* Agents
    const ready: Array<Agent> = []
    for (let at = 0; at < agentsCount; at++) {
      const { id } = yield* journal.transact(principals.add({ kind: "agent", name: `bot${at}` }))
      yield* journal.transact(agents.change(id, { model: "script", limits: {}, persona: null }))
      ready.push(yield* agents.get(id))
    }
    return ready
  })
  const agents = await house.runPromise(made)
  const services = await house.runPromise(
    Effect.all({ journal: Journal, triggers: Triggers, sql: SqlClient.SqlClient }),
  )
  const follower = services.journal.follow({
    name: "bench",
    kinds: ["run.ended"],
    wanted: () => true,
    hear: (events) =>
      Effect.sync(() => {
        for (const event of events)
          if (event.kind === "run.ended") {
            if (event.body.state !== "completed") faults++
            const tell = waiting.get(event.body.run)
            waiting.delete(event.body.run)
            if (tell === undefined) over.add(event.body.run)
            else tell()
          }
      }),
  })
  // For as long as the process lives.
  house.runFork(Effect.scoped(Effect.andThen(follower, Effect.never)))
  await house.runPromise(floorTables)
  const run = async (caller: number, steps: number) => {
    const agent = agents[caller]!
    const trigger = { text: textOf(steps), space: null, key: undefined, run: undefined }
    const id = await house.runPromise(services.triggers.start(agent.id, trigger, houseViewer(agent)))
    if (!over.delete(id)) await new Promise<void>((resolve) => waiting.set(id, resolve))
    if (faults > 0) throw new Error("a run of the bench did not complete")
  }
  return {
    ways: {
      house: run,
      floor: (_: number, steps: number) => house.runPromise(floorRun(services.sql, steps, question.thinks)),
    },
    close: () => house.dispose(),
  }
}

let opened: Awaited<ReturnType<typeof open>> | undefined

const drive = async (
  once: (caller: number, steps: number) => Promise<unknown>,
  { callers, millis, steps }: Extract<RunnerQuestion, { readonly do: "drive" }>,
): Promise<RunnerAnswer> => {
  let ended = 0
  const started = performance.now()
  const one = async (_: unknown, caller: number) => {
    while (performance.now() < started + millis) {
      await once(caller, steps)
      ended++
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { perSecond: ended / ((performance.now() - started) / 1000) }
}

serveQuestions(async (question: RunnerQuestion) => {
  if (question.do === "drive") return drive(opened!.ways[question.way], question)
  if (question.do === "open") opened = await open(question)
  else await opened!.close()
  return {}
})
