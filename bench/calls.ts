/**
 * Calls: what the durable record adds to governing; a governed http tool against fetching the service oneself; how long
 * an approved call waits to run; and a thousand open decisions. All of it on SQLite and on Postgres.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { startPostgres } from "../test/postgres.ts"
import { addAgent } from "./kit/api.ts"
import type { ApproveAnswer, ApproverQuestion, FetchAnswer, ManyAnswer } from "./children/approver.ts"
import type { LoadAnswer, LoadQuestion } from "./children/load.ts"
import type { Road, RoadsAnswer, RoadsQuestion } from "./children/roads.ts"
import { type Delays, middle, number, ratio, spread, table } from "./kit/measure.ts"
import { type Child, type House, sleep, startChild, startHouse, temporaryFolder } from "./processes.ts"

const rounds = 3
const millis = 1000
const counts = [1, 16]
const stores = ["SQLite", "Postgres"] as const
type Store = (typeof stores)[number]

/** Durable, unlike the one of the tests. */
const withDatabase = async <A>(store: Store, use: (database?: string) => Promise<A>): Promise<A> => {
  if (store === "SQLite") return use()
  const postgres = await startPostgres({})
  const found = await use(postgres.url)
  await postgres.stop()
  return found
}

const ways: Record<Road, string> = {
  governed: "governed call, its record synced",
  road: "the same road, nothing kept",
  floor: "one event, synced",
}
const roads = Object.keys(ways) as ReadonlyArray<Road>

/** Rows of the table, and a sentence for each count of callers. */
const record = async (folder: string, store: Store, database?: string) => {
  const child = startChild("roads")
  mkdirSync(folder)
  const tell = <A>(question: RoadsQuestion) => child.ask<A>(question)
  await tell({ do: "open", folder, ...(database === undefined ? {} : { database }) })
  for (const road of roads) await tell({ do: "drive", road, callers: 16, millis })
  const rows: Array<ReadonlyArray<string>> = []
  const sentences: Array<string> = []
  for (const callers of counts) {
    const found: Record<Road, Array<RoadsAnswer>> = { governed: [], road: [], floor: [] }
    for (let round = 0; round < rounds; round++)
      for (const road of roads) found[road].push(await tell({ do: "drive", road, callers, millis }))
    const cost = (road: Road) => found[road].map(({ perSecond }) => 1e6 / perSecond)
    const [governed, sum] = [cost("governed"), cost("road").map((one, round) => one + cost("floor")[round]!)]
    for (const road of roads)
      rows.push([
        `${ways[road]}, ${store}`,
        String(callers),
        spread(found[road].map((one) => one.perSecond)),
        spread(cost(road)),
        spread(found[road].map((one) => one.p50)),
        spread(found[road].map((one) => one.p99)),
      ])
    sentences.push(
      `- ${store}, ${callers === 1 ? "1 caller" : `${callers} callers`}: ${number(middle(governed))} us a governed call, ${ratio(governed, sum)} the sum of the road alone and the floor`,
    )
  }
  await tell({ do: "close" })
  await child.stop()
  return { rows, sentences }
}

const word = { type: "object", properties: { n: { type: "string" } }, required: ["n"] }
/** An http tool that asks a loopback service. */
export const httpTool = (name: string, port: number, more: object) => ({
  name,
  description: "Asks a service.",
  inputSchema: word,
  executionType: "gateway",
  execution: { url: `http://127.0.0.1:${port}/?n={{input.n}}`, method: "GET" },
  ...more,
})

interface Scene {
  readonly house: House
  readonly agent: string
  readonly load: Child
  readonly approver: Child
  readonly service: number
}

const http = async ({ agent, approver, house, load, service }: Scene, store: Store) => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const callers of counts) {
    const [ours, bare]: [Array<LoadAnswer>, Array<FetchAnswer>] = [[], []]
    for (let round = 0; round < rounds; round++) {
      const url = `http://127.0.0.1:${service}/?n=x`
      bare.push(await approver.ask<FetchAnswer>({ do: "fetch", url, callers, millis } satisfies ApproverQuestion))
      const question: LoadQuestion = {
        port: house.port,
        token: agent,
        connections: callers,
        method: "POST",
        path: "/api/v1/tools/look/call",
        body: '{"input":{"n":"x"}}',
        expect: '"state":"done"',
        warmMillis: 300,
        millis,
      }
      const answer = await load.ask<LoadAnswer>(question)
      if (answer.refused > 0)
        throw new Error(`${answer.refused} calls of the http tool failed, such as ${answer.fault}`)
      ours.push(answer)
    }
    const rate = (of: ReadonlyArray<{ readonly perSecond: number }>) => of.map((one) => one.perSecond)
    const row = (name: string, of: ReadonlyArray<FetchAnswer>, to: string) =>
      rows.push([name, String(callers), spread(rate(of)), ...delayCells(of), to])
    row("bare fetch", bare, "1")
    row(`governed http tool, ${store}`, ours, ratio(rate(ours), rate(bare)))
  }
  return rows
}

const delayCells = (of: ReadonlyArray<Delays>): ReadonlyArray<string> => [
  spread(of.map((one) => one.p50)),
  spread(of.map((one) => one.p99)),
]

const measureDecisions = async ({ agent, approver, house }: Scene, store: Store) => {
  const where = { port: house.port, agent, admin: house.token, tool: "careful" }
  const ask = <A>(question: ApproverQuestion) => approver.ask<A>(question)
  await ask({ ...where, do: "approve", count: 30 })
  const found: Array<ApproveAnswer> = []
  for (let round = 0; round < rounds; round++) found.push(await ask({ ...where, do: "approve", count: 100 }))
  const many = await ask<ManyAnswer>({ ...where, do: "many", count: 1000, callers: 16 })
  const delays = (name: string, of: ReadonlyArray<Delays>) => [`${name}, ${store}`, ...delayCells(of)]
  return {
    waits: [
      delays(
        "answer sent to acknowledged",
        found.map((one) => one.acknowledged),
      ),
      delays(
        "answer sent to service called",
        found.map((one) => one.executed),
      ),
    ],
    many: [
      store,
      number(many.asked),
      `${number(many.listed)} (${many.pages} pages)`,
      number(many.answered),
      number(many.executed),
    ],
  }
}

/** One house for all that goes over HTTP; its tools know the services' ports beforehand. */
const measureHttp = async (folder: string, store: Store, database?: string) => {
  const [load, approver, bare] = [startChild("load"), startChild("approver"), startChild("bare")]
  const answer = { status: 200, headers: { "content-type": "application/json" }, body: '{"ok":true}' }
  const { port: service } = await bare.ask<{ readonly port: number }>(answer)
  const { port: stub } = await approver.ask<{ readonly port: number }>({ do: "listen" })
  const config = {
    egress: { allow: [`127.0.0.1:${service}`, `127.0.0.1:${stub}`] },
    tools: [httpTool("look", service, {}), httpTool("careful", stub, { requiresApproval: true })],
  }
  const house = await startHouse(folder, { config, ...(database === undefined ? {} : { database }) })
  const scene = { house, agent: await addAgent(house, "caller"), load, approver, service }
  const requests = await http(scene, store)
  await sleep(200)
  const decisions = await measureDecisions(scene, store)
  await house.stop()
  await Promise.all([load.stop(), approver.stop(), bare.stop()])
  return { requests, ...decisions }
}

export const calls = async (): Promise<string> => {
  const folder = temporaryFolder()
  const recorded: Array<Awaited<ReturnType<typeof record>>> = []
  const served: Array<Awaited<ReturnType<typeof measureHttp>>> = []
  for (const store of stores) {
    recorded.push(await withDatabase(store, (database) => record(join(folder, `roads-${store}`), store, database)))
    served.push(await withDatabase(store, (database) => measureHttp(join(folder, `house-${store}`), store, database)))
  }
  return [
    `A configured tool that does nothing, called in the house's own process; ${rounds} rounds of ${millis / 1000} s each in turn. Required: less than 2 x.`,
    "",
    ...recorded.flatMap(({ sentences }) => sentences),
    "",
    table(
      ["way", "callers", "calls/s", "us a call", "p50 ms", "p99 ms"],
      recorded.flatMap(({ rows }) => rows),
    ),
    "",
    "A governed http tool over HTTP against bare fetch of the same service on loopback:",
    "",
    table(
      ["way", "callers", "calls/s", "p50 ms", "p99 ms", "to bare"],
      served.flatMap(({ requests }) => requests),
    ),
    "",
    "A person approves, and the call runs (an http tool; the service notes its arrival), 100 in each round:",
    "",
    table(
      ["from and to", "p50 ms", "p99 ms"],
      served.flatMap(({ waits }) => waits),
    ),
    "",
    "1,000 decisions open at once, milliseconds for all of them; asked and answered by 16 at a time, executed counted from the first answer:",
    "",
    table(
      ["store", "asked", "listed", "answered", "executed"],
      served.map(({ many }) => many),
    ),
  ].join("\n")
}
