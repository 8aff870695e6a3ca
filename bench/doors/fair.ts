/**
 * Fairness: what one principal's requests cost another's. The other one works at a steady pace, alone and then beside each
 * attack in turn; delays are counted from when a request was due, so that a house that stands still shows.
 */
import { join } from "node:path"
import { addAgent, ask } from "../kit/api.ts"
import { attacks, type AttackRow, ownTools } from "./attacks.ts"
import type { AttackerAnswer, AttackerQuestion } from "../children/attacker.ts"
import type { LoadAnswer, LoadQuestion } from "../children/load.ts"
import { middle, number, table } from "../kit/measure.ts"
import { type Child, environment, type House, sleep, startChild, startHouse, temporaryFolder } from "../processes.ts"

const rounds = 3
const millis = 3000
const pace = 100
const codePace = 8
/** An attack has begun before its cost is measured. */
const headStart = 300
/** What is left of an attack is over before the next begins. */
const rest = 700
/** Times the quiet p99. */
const most = 5

const space = "square"
const schema = (properties: object) => ({ type: "object", properties, additionalProperties: false })
const tools = [
  {
    name: "hello",
    description: "says hello",
    inputSchema: schema({}),
    executionType: "internal",
    execution: { output: { hello: "world" } },
  },
  {
    name: "echo",
    description: "takes a text",
    inputSchema: schema({ text: { type: "string" } }),
    executionType: "internal",
    execution: { output: { taken: true } },
  },
  {
    name: "compute",
    description: "computes",
    inputSchema: schema({ expression: { type: "string" } }),
    executionType: "internal",
    execution: { operation: "evaluate", expression: "{{input.expression}}" },
  },
]

interface Sides {
  readonly house: House
  readonly victim: { readonly token: string; readonly child: Child }
  readonly attacker: { readonly token: string; readonly child: Child }
}

const asAgent = (house: House, token: string): House => ({ ...house, token })

/** Code runs without a question from now on: what is measured is the sandbox, not the person. */
const approveCode = async (house: House, token: string): Promise<void> => {
  const { on } = await ask<{ on: { id: string } }>(asAgent(house, token), "POST", "/tools/code-execute/call", {
    input: { code: "1" },
    wait: 0,
  })
  await ask(house, "POST", `/decisions/${on.id}/answer`, { verdict: "approve", reach: "always" })
}

const prepare = async (house: House): Promise<{ readonly victim: string; readonly attacker: string }> => {
  const [victim, attacker] = [await addAgent(house, "victoria"), await addAgent(house, "mallory")]
  for (const name of ["victoria", "mallory"]) {
    await ask(house, "PATCH", `/principals/${name}`, { toolsets: ["stoa", "skills"] })
    await ask(house, "POST", "/grants", { principal: name, resource: "tools/*", actions: ["execute"] })
  }
  // Only the worst of principals may bring tools; the rest of what it does needs no more than being there.
  await ask(house, "POST", "/grants", { principal: "mallory", resource: "tools/*", actions: ["admin", "write"] })
  await ask(house, "POST", "/spaces", { name: space, kind: "public", members: ["victoria", "mallory"] })
  for (const tool of tools) await ask(house, "POST", "/tools", tool)
  await ask(asAgent(house, attacker), "PUT", "/hosts/own", { shared: false, tools: ownTools })
  for (const token of [victim, attacker]) await approveCode(house, token)
  return { victim, attacker }
}

/** A past for those who read it again and again. */
const fill = async (house: House, token: string): Promise<void> => {
  const text = "vic1 a message of the usual length, which says something ".repeat(4)
  for (let done = 0; done < 3000; done += 50)
    await Promise.all(
      Array.from({ length: 50 }, () => ask(asAgent(house, token), "POST", `/spaces/${space}/messages`, { text })),
    )
}

const usual = (port: number, token: string): LoadQuestion => {
  const get = (path: string) => ({ method: "GET", path: `/api/v1${path}` })
  const post = { method: "POST", path: `/api/v1/spaces/${space}/messages`, body: '{"text":"good morning #"}' }
  const call = { method: "POST", path: "/api/v1/tools/hello/call", body: '{"input":{}}' }
  const [first, ...more] = [
    get("/me"),
    post,
    get(`/spaces/${space}/messages?limit=20`),
    get("/me"),
    post,
    get("/tools?limit=20"),
    get("/me"),
    get("/spaces"),
    get(`/spaces/${space}`),
    call,
  ]
  return { port, token, connections: 16, stands: true, warmMillis: 0, millis, pace, ...first, more }
}
const code = (port: number, token: string): LoadQuestion => ({
  port,
  token,
  connections: 8,
  stands: true,
  warmMillis: 0,
  millis,
  pace: codePace,
  method: "POST",
  path: "/api/v1/tools/code-execute/call",
  body: '{"input":{"code":"[1,2,3].map((x) => x * 2)"},"wait":10}',
})

const newcomers = (port: number, token: string): LoadQuestion => ({
  ...usual(port, token),
  connections: 0,
  stands: false,
  newcomers: 16,
})
const victims = { usual, code, newcomers }

interface Measured {
  readonly quiet: Array<LoadAnswer>
  readonly beside: Array<LoadAnswer>
  readonly statuses: Record<string, number>
}

const work = ({ house, victim }: Sides, row: AttackRow | undefined): Promise<LoadAnswer> =>
  victim.child.ask<LoadAnswer>(victims[row?.victim ?? "usual"](house.port, victim.token))

const measureBeside = async (sides: Sides, row: AttackRow, measured: Measured): Promise<void> => {
  const { attacker, house } = sides
  const ask = (question: AttackerQuestion) => attacker.child.ask<AttackerAnswer>(question)
  measured.quiet.push(await work(sides, row))
  await ask({ do: "begin", port: house.port, token: attacker.token, ...row })
  await sleep(headStart)
  measured.beside.push(await work(sides, row))
  const { statuses } = await ask({ do: "stop" })
  for (const [status, count] of Object.entries(statuses))
    measured.statuses[status] = (measured.statuses[status] ?? 0) + count
  await sleep(rest)
}

const answered = (statuses: Readonly<Record<string, number>>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${number(count)} x ${status === "0" ? "closed" : status}`)
    .join(", ") || "nothing yet"

const rowOf = (row: AttackRow, { beside, quiet, statuses }: Measured): ReadonlyArray<string> => {
  const p99 = middle(quiet.map((one) => one.p99))
  const with99 = middle(beside.map((one) => one.p99))
  const refused = beside.reduce((sum, one) => sum + one.refused, 0)
  const kept = with99 <= most * p99 && refused === 0
  return [
    row.name,
    number(p99),
    number(middle(beside.map((one) => one.p50))),
    number(with99),
    `${number(with99 / p99)} x`,
    kept ? "yes" : refused > 0 ? `no: ${refused} refused` : "no",
    answered(statuses),
  ]
}

export const fair = async (): Promise<string> => {
  // As it comes: the usual limits are part of what is measured.
  const house = await startHouse(join(temporaryFolder(), "house"), { config: { limits: [] } })
  const { attacker, victim } = await prepare(house)
  await fill(house, victim)
  const sides: Sides = {
    house,
    victim: { token: victim, child: startChild("load") },
    attacker: { token: attacker, child: startChild("attacker") },
  }
  await work(sides, undefined)
  const only = environment({})["BENCH_ROWS"]
  const rows = attacks(space).filter(({ name }) => only === undefined || new RegExp(only).test(name))
  const all = new Map<AttackRow, Measured>(rows.map((row) => [row, { quiet: [], beside: [], statuses: {} }]))
  for (let round = 0; round < rounds; round++)
    for (const [row, measured] of all) await measureBeside(sides, row, measured)
  const faults = [...all].flatMap(([row, { beside }]) =>
    beside.flatMap((one) => one.fault ?? []).map((fault) => `${row.name}: ${fault.slice(0, 300)}`),
  )
  if (faults.length > 0) console.error(faults[0])
  await Promise.all([sides.victim.child.stop(), sides.attacker.child.stop()])
  await house.stop()
  const shown = [...all].map(([row, measured]) => rowOf(row, measured))
  return [
    `A principal works at ${pace} requests a second (reads, posts, a tool call), ${rounds} rounds of ${millis / 1000} s alone and ${rounds} beside each attack by another principal, in turn; middle round. The attacker's process has the lowest priority, since its machine would be another one. Delays count from when a request was due, on connections that stand, but for the row of newcomers. The usual limits stand. Kept: p99 at most ${most} x the quiet p99 of the same row, and none of its requests refused.`,
    "",
    table(["beside", "quiet p99 ms", "p50 ms", "p99 ms", "to quiet", "kept", "the attacker was answered"], shown),
    "",
    `${shown.filter((row) => row[5] === "yes").length} of ${shown.length} rows kept.`,
  ].join("\n")
}
