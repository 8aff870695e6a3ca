/**
 * Runs: how many a second, against DBOS and against the same rows written by a bare loop; what a step costs in a whole house,
 * against the AI SDK's own loop; how soon a run goes on when it is answered, when its house is killed, and when another one
 * takes it over; and what ten thousand that wait cost. On SQLite and on Postgres, which DBOS needs.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RunnerAnswer, RunnerQuestion } from "../children/runner.ts"
import { startDatabases } from "../kit/databases.ts"
import { ratio, spread, table } from "../kit/measure.ts"
import { installPeers, startPeer } from "../kit/peers.ts"
import { startChild, temporaryFolder } from "../processes.ts"
import { measureAnswers, measureIdle, measureKill, measureTakeover, measureWaiting } from "./runsFaults.ts"

const rounds = 3
const millis = 700
/** Nine steps with a governed call each, and a last one that says nothing. */
const long = 10
const cells = [1, 50].flatMap((callers) => [1, long].map((steps) => ({ callers, steps })))

/** What the scripted model says: ten steps to "ten", one to anything else. */
const rulesOf = (folder: string): string => {
  const file = join(folder, "rules.json")
  const call = [{ tool: "hello", input: { word: "x" } }]
  const rules = Array.from({ length: long - 1 }, (_, at) => ({ when: { text: "^ten", step: at + 1 }, call }))
  writeFileSync(file, JSON.stringify({ rules }))
  return file
}

/** What is known is said at once: on a crowded machine the rest may take long. */
const printRows = (rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  for (const row of rows) console.error(row.filter((cell) => cell !== "").join("; "))
}
const printLine = (text: string): string => {
  console.error(text)
  return text
}

interface Way {
  readonly name: string
  readonly drive: (cell: { readonly callers: number; readonly steps: number }) => Promise<RunnerAnswer>
}

/** Each way in turn, round by round: runs a second of each. */
const roundRobin = async (ways: ReadonlyArray<Way>, cell: (typeof cells)[number]) => {
  const found = ways.map(() => [] as Array<number>)
  for (let round = 0; round < rounds; round++)
    for (const [at, way] of ways.entries()) found[at]!.push((await way.drive(cell)).perSecond)
  return found
}

const house = async (folder: string, rules: string, thinks: boolean, database?: string) => {
  mkdirSync(folder)
  const profile = process.env["BENCH_PROFILE"]
  const child = startChild("runner", profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`])
  const ask = <A>(question: RunnerQuestion) => child.ask<A>(question)
  await ask({ do: "open", folder, rules, thinks, ...(database === undefined ? {} : { database }) })
  const way = (name: string, way: "house" | "floor"): Way => ({
    name,
    drive: (cell) => ask({ do: "drive", way, ...cell, millis }),
  })
  const stop = async () => {
    await ask({ do: "close" })
    await child.stop()
  }
  const ours = way(thinks ? "a run in a whole house" : "the engine alone", "house")
  return { ours, floor: way("its rows in a bare loop", "floor"), stop }
}

const rowsOf = async (store: string, ways: ReadonlyArray<Way>) => {
  // Warm.
  for (const way of ways) await way.drive({ callers: 50, steps: long })
  const rows: Array<ReadonlyArray<string>> = []
  for (const cell of cells) {
    const found = await roundRobin(ways, cell)
    for (const [at, { name }] of ways.entries())
      rows.push([
        `${name}, ${store}`,
        String(cell.callers),
        String(cell.steps),
        spread(found[at]!),
        ...found.map((theirs, other) =>
          other === at ? "1" : other === 0 ? "" : at === 0 ? ratio(found[0]!, theirs) : "",
        ),
      ])
  }
  printRows(rows)
  return rows
}

/** A step in a whole house against the AI SDK's loop, which keeps nothing; the first row is that loop. */
const stepRows = async (store: string, ours: Way, loop: Way) => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const callers of [1, 4, 50]) {
    const found = await roundRobin([loop, ours], { callers, steps: long })
    const cost = found.map((rates) => rates.map((rate) => 1000 / (rate * long)))
    const rate = found.map((rates) => rates.map((one) => one * long))
    if (store === "SQLite") rows.push([loop.name, String(callers), spread(rate[0]!), spread(cost[0]!), "1"])
    rows.push([
      `a step in a whole house, ${store}`,
      String(callers),
      spread(rate[1]!),
      spread(cost[1]!),
      ratio(cost[1]!, cost[0]!),
    ])
  }
  printRows(rows)
  return rows
}

export const runs = async (): Promise<string> => {
  installPeers()
  const folder = temporaryFolder()
  const rules = rulesOf(folder)
  const aiSdk = await startPeer("loop.mjs", rules)
  const loop: Way = {
    name: "the AI SDK's own loop",
    drive: ({ callers, steps }) => aiSdk.ask({ callers, steps, millis }),
  }
  const sqlite = await house(join(folder, "sqlite"), rules, true)
  const onSqlite = await rowsOf("SQLite", [sqlite.ours, sqlite.floor])
  const steps = await stepRows("SQLite", sqlite.ours, loop)
  await sqlite.stop()
  const sqliteEngine = await house(join(folder, "sqliteEngine"), rules, false)
  const engineOnSqlite = await rowsOf("SQLite", [sqliteEngine.ours, sqliteEngine.floor])
  await sqliteEngine.stop()
  const databases = await startDatabases()
  const dbos = await startPeer("dbos.mjs", await databases.add("dbos"))
  const theirs = (stepsOf: (count: number) => number): Way => ({
    name: "DBOS",
    drive: ({ callers, steps: count }) => dbos.ask({ callers, steps: stepsOf(count), millis }),
  })
  const engine = await house(join(folder, "engine"), rules, false, await databases.add("engine"))
  const engineOnPostgres = await rowsOf("Postgres", [engine.ours, engine.floor, theirs((count) => count)])
  await engine.stop()
  const ours = await house(join(folder, "postgres"), rules, true, await databases.add("ours"))
  // What is durable here is a step there: each thought, and each call.
  const onPostgres = await rowsOf("Postgres", [ours.ours, ours.floor, theirs((count) => 2 * count - 1)])
  steps.push(...(await stepRows("Postgres", ours.ours, loop)))
  await aiSdk.stop()
  await ours.stop()
  const idle = printLine(await measureIdle(folder, databases))
  await dbos.stop()
  const answers = printLine(await measureAnswers(folder, databases))
  const killed = printLine(await measureKill(folder, databases))
  const taken = printLine(await measureTakeover(folder, databases))
  await databases.stop()
  const held = await measureWaiting(folder)
  return [
    `The engine alone, as in the peers: runs of fifty agents are asked for, claimed, taken step by step under a fence and ended, with their rows and events, in a house that follows all of it; nobody thinks or calls anything. DBOS's steps do nothing; the bare loop writes a row a step. ${rounds} rounds of ${millis / 1000} s each in turn. Aims: 5 x DBOS at 50 at once, 1.5 x one at a time, 0.5 x the bare loop.`,
    "",
    table(
      ["way", "at once", "steps", "runs/s", "", "to the loop", "to DBOS"],
      [...engineOnPostgres, ...engineOnSqlite],
    ),
    "",
    `The same in a whole house, where agents think by a script: rights, prompt, tools, model and the audit trail are in it, and a run of ${long} steps makes ${long - 1} governed calls. DBOS has a step for each thought and each call, which do nothing; the bare loop writes their rows alone.`,
    "",
    table(["way", "at once", "steps", "runs/s", "", "to the loop", "to DBOS"], [...onPostgres, ...onSqlite]),
    "",
    "A step with one governed call in a whole house, against the same scripted provider in the AI SDK's `streamText` with the tool as a function; milliseconds a step are over all at once.",
    "",
    table(["way", "at once", "steps/s", "ms a step", "to the SDK's"], steps),
    "",
    `An approval was answered, to the next step begun (aim: under 10 ms), 100 times: ${answers}.`,
    "",
    held,
    "",
    `kill -9 of the only house while 20 agents work, to the first step of the next one, ${killed}.`,
    "",
    `kill -9 of one of two houses (aim: within 2 s): every run of the dead one had begun its next step after ${taken} ms.`,
    "",
    idle,
  ].join("\n")
}
