/** Runs of houses in processes of their own: answered, killed, taken over, waiting in thousands, and idle. */
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { ask } from "../kit/api.ts"
import type { Databases } from "../kit/databases.ts"
import { delaysOf, number, table } from "../kit/measure.ts"
import { hello } from "../mcp/mcpMessages.ts"
import { type House, memoryProbe, sleep, startHouse, statementProbe } from "../processes.ts"

interface Item {
  readonly id: string
  readonly state: string
}
interface Step {
  readonly number: number
  readonly beganAt: string
}
const itemsOf = async <A>(house: House, path: string): Promise<ReadonlyArray<A>> =>
  (await ask<{ readonly items: ReadonlyArray<A> }>(house, "GET", path)).items

const configOf = (folder: string, name: string, rules: ReadonlyArray<object>) => {
  const file = join(folder, `${name}.rules.json`)
  writeFileSync(file, JSON.stringify({ rules }))
  return {
    tools: [
      hello,
      { ...hello, name: "careful", requiresApproval: true },
      { ...hello, name: "callback", executionType: "space", execution: {} },
    ],
    models: { script: { provider: "scripted", rules: file } },
  }
}

const furnish = async (house: House, agents: number): Promise<ReadonlyArray<string>> => {
  const names = Array.from({ length: agents }, (_, at) => `bot${at}`)
  for (const name of names) {
    await ask(house, "POST", "/principals", { kind: "agent", name })
    await ask(house, "PATCH", `/agents/${name}`, { model: "script" })
  }
  return names
}

const trigger = async (house: House, agent: string): Promise<string> =>
  (await ask<{ readonly run: string }>(house, "POST", `/agents/${agent}/trigger`, { text: "work" })).run

/** Looked at again and again: for no longer than a minute. */
const until = async <A>(look: () => Promise<A | undefined>): Promise<A> => {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(2)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error("what the figure waited for did not come within a minute")
}

const over = (house: House, run: string) =>
  until(async () => ((await ask<Item>(house, "GET", `/runs/${run}`)).state === "completed" ? true : undefined))

/** By the house's own clock: from the answer, a moment before its COMMIT, to the next step's beginning. */
const answeredOf = async (house: House, count: number) => {
  const took: Array<number> = []
  for (let at = 0; at < count; at++) {
    const run = await trigger(house, "bot0")
    const open = await until(async () => (await itemsOf<Item>(house, "/decisions?state=open"))[0])
    const { answeredAt } = await ask<{ readonly answeredAt: string }>(house, "POST", `/decisions/${open.id}/answer`, {
      verdict: "approve",
    })
    // Not asked meanwhile: whoever asks every other millisecond is part of the figure.
    await sleep(100)
    await over(house, run)
    const steps = await itemsOf<Step>(house, `/runs/${run}/steps`)
    took.push(Date.parse(steps[1]!.beganAt) - Date.parse(answeredAt))
  }
  return delaysOf(took.slice(10))
}

const asking = [{ when: { step: 1 }, call: [{ tool: "careful", input: { word: "x" } }] }]

export const measureAnswers = async (folder: string, databases: Databases): Promise<string> => {
  const said: Array<string> = []
  for (const store of ["SQLite", "Postgres"]) {
    const database = store === "SQLite" ? {} : { database: await databases.add("answering") }
    const name = `answering-${store}`
    const house = await startHouse(join(folder, name), { config: configOf(folder, name, asking), ...database })
    await furnish(house, 1)
    const { p50, p99 } = await answeredOf(house, 110)
    said.push(`${store} p50 ${number(p50)}, p99 ${number(p99)} ms`)
    await house.stop()
  }
  return said.join("; ")
}

const busy = (steps: number) =>
  Array.from({ length: steps }, (_, at) => ({
    when: { step: at + 1 },
    call: [{ tool: "hello", input: { word: "x" } }],
    waitMs: 100,
  }))

/** Milliseconds from a moment to the first step that each of these runs began after it. */
const nextSteps = async (house: House, runs: ReadonlyArray<string>, from: number): Promise<ReadonlyArray<number>> => {
  const all: Array<number> = []
  for (const run of runs) {
    const steps = await itemsOf<Step>(house, `/runs/${run}/steps`)
    const next = steps.map(({ beganAt }) => Date.parse(beganAt)).find((at) => at > from)
    if (next !== undefined) all.push(next - from)
  }
  return all
}

export const measureKill = async (folder: string, databases: Databases): Promise<string> => {
  const said: Array<string> = []
  for (const store of ["SQLite", "Postgres"]) {
    const name = `killed-${store}`
    const database = store === "SQLite" ? {} : { database: await databases.add("killed") }
    const options = { config: configOf(folder, name, busy(8)), env: { STOA_SLOTS: "20" }, ...database }
    const first = await startHouse(join(folder, name), options)
    const names = await furnish(first, 20)
    const runs = await Promise.all(names.map((agent) => trigger(first, agent)))
    await sleep(250)
    await first.kill()
    const killedAt = Date.now()
    const second = await startHouse(join(folder, name), options)
    const readyMs = Date.now() - killedAt
    for (const run of runs) await over(second, run)
    const next = Math.min(...(await nextSteps(second, runs, killedAt)))
    said.push(`${store}: ${number(next)} ms after the kill, with the process itself ready after ${number(readyMs)}`)
    await second.stop()
  }
  return said.join("; ")
}

export const measureTakeover = async (folder: string, databases: Databases): Promise<string> => {
  const database = await databases.add("cluster")
  const settings = {
    STOA_RUNNER: "cluster",
    STOA_SLOTS: "20",
    STOA_SECRET_KEY: "a-key-that-all-houses-have-got",
    STOA_ADMIN_TOKEN: "a-token-that-all-houses-have-got",
  }
  const options = { config: configOf(folder, "cluster", busy(60)), env: settings, database }
  const took: Array<number> = []
  let houses = [
    await startHouse(join(folder, "cluster-0"), options),
    await startHouse(join(folder, "cluster-1"), options),
  ]
  const names = await furnish(houses[0]!, 20)
  for (let round = 0; round < 2; round++) {
    const runs = await Promise.all(names.map((agent) => trigger(houses[0]!, agent)))
    await sleep(1500)
    const [dead, alive] = houses
    await dead!.kill()
    const killedAt = Date.now()
    await sleep(3000)
    took.push(Math.max(...(await nextSteps(alive!, runs, killedAt))))
    for (const run of runs) await ask(alive!, "POST", `/runs/${run}/cancel`)
    houses = [alive!, await startHouse(join(folder, `cluster-${round + 2}`), options)]
  }
  for (const house of houses) await house.stop()
  return took.map(number).join(", ")
}

const heap = async (house: House) => (await house.memory()).heapUsed / 2 ** 20
const many = 10_000
const callersMany = 16

/** Ten thousand that wait: what is held for them, and whether a run beside them is as quick as before. */
export const measureWaiting = async (folder: string): Promise<string> => {
  const rules = [
    { when: { agent: "bot0", step: 1 }, call: asking[0]!.call },
    { when: { step: 1 }, call: [{ tool: "callback", input: { word: "x" } }] },
  ]
  const house = await startHouse(join(folder, "waiting"), {
    config: configOf(folder, "waiting", rules),
    env: { STOA_SLOTS: "50" },
    nodeOptions: [...memoryProbe, ...statementProbe],
  })
  const names = await furnish(house, 51)
  const quick = await answeredOf(house, 40)
  const before = await heap(house)
  const started = performance.now()
  let next = 0
  const one = async () => {
    while (next < many) await trigger(house, names[1 + (next++ % 50)]!)
  }
  await Promise.all(Array.from({ length: callersMany }, one))
  await until(async () =>
    (await itemsOf<Item>(house, "/runs?state=queued&limit=1")).length +
      (await itemsOf<Item>(house, "/runs?state=running&limit=1")).length ===
    0
      ? true
      : undefined,
  )
  const seconds = (performance.now() - started) / 1000
  const after = await heap(house)
  const [from, at] = [await house.statements(), performance.now()]
  await sleep(10_000)
  const idle = (((await house.statements()) - from) / (performance.now() - at)) * 60_000
  const slow = await answeredOf(house, 40)
  await house.stop()
  return `${number(many)} runs that wait for people, SQLite, made within ${number(seconds)} s: ${number(after - before)} MB of heap more (${number(before)} before), ${number(idle)} statements a minute while they wait. Beside them an answer is followed by its next step after p50 ${number(slow.p50)} ms, before them after ${number(quick.p50)}.`
}

const idleSeconds = 15

export const measureIdle = async (folder: string, databases: Databases): Promise<string> => {
  const config = configOf(folder, "idle", [])
  const sqlite = await startHouse(join(folder, "idle-sqlite"), { config, nodeOptions: statementProbe })
  const single = await startHouse(join(folder, "idle-single"), { config, database: await databases.add("single") })
  const settings = {
    STOA_RUNNER: "cluster",
    STOA_SECRET_KEY: "a-key-that-all-houses-have-got",
    STOA_ADMIN_TOKEN: "a-token-that-all-houses-have-got",
  }
  const cluster = await startHouse(join(folder, "idle-cluster"), {
    config,
    env: settings,
    database: await databases.add("shared"),
  })
  // Postgres counts what a connection did up to ten seconds after it did it.
  await sleep(20_000)
  const counts = async () => [
    await sqlite.statements(),
    await databases.transactions("single"),
    await databases.transactions("shared"),
    await databases.transactions("dbos"),
  ]
  const [before, at] = [await counts(), performance.now()]
  await sleep(idleSeconds * 1000)
  const after = await counts()
  const minutes = (performance.now() - at) / 60_000
  for (const house of [sqlite, single, cluster]) await house.stop()
  const names = ["a house on SQLite, statements", "a house on Postgres", "a house of a cluster", "DBOS"]
  return [
    "Idle, a minute, from 15 s; Postgres counts transactions, most of one statement.",
    "",
    table(
      ["who", "a minute"],
      names.map((name, which) => [name, number((after[which]! - before[which]!) / minutes)]),
    ),
  ].join("\n")
}
