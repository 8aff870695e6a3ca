/** What the suites of calls and decisions stand on: a house that may reach loopback, tools of it, and services that hold their answer. */
import { Catalogue } from "../../src/calls/catalogue/Catalogue.ts"
import type { Traits } from "../../src/calls/catalogue/Traits.ts"
import type { HouseHandler } from "../../src/calls/road/Handler.ts"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { Guest, house, type HouseOptions, roomy } from "../house.ts"
import { call as request, fresh, someone, type Someone } from "../spaces/spacesGuests.ts"

export { request }

export const config = { ...roomy, egress: { allow: ["127.0.0.1"] } }

export const callsHouse = (options: HouseOptions) => house({ config, ...options })

export const stores = ["sqlite", "postgres"] as const

export const admin = Effect.map(Guest, ({ adminToken }) => ({ token: adminToken }) as Someone)

/** As much of a call, a decision or a problem as the suites read. */
export interface Told {
  readonly id: string
  readonly state: string
  readonly tool: string
  readonly input: unknown
  readonly output?: unknown
  readonly outputFile?: { readonly file: string; readonly size: number; readonly mediaType: string }
  readonly error?: { readonly tag: string; readonly message: string }
  readonly on?: { readonly kind: string; readonly id: string }
  readonly rule: string | null
  readonly tag?: string
  readonly detail?: string
  readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

export const told = (answer: { readonly body: unknown }): Told => answer.body as Told

/** A tool in the house; without more it answers by itself. */
export const configure = Effect.fnUntraced(function* (over: object = {}) {
  const form = {
    name: fresh("tool"),
    description: "Says what it was told to say.",
    inputSchema: { type: "object", properties: { word: { type: "string" } }, additionalProperties: false },
    executionType: "internal",
    ...over,
  }
  const made = yield* request(yield* admin, "POST", "/tools", form)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return form
})

/** The form as it is put again. */
export const redefine = Effect.fnUntraced(function* (form: { readonly name: string }, over: object) {
  const put = yield* request(yield* admin, "PUT", `/tools/${form.name}`, { ...form, ...over })
  assert.strictEqual(put.status, 200, JSON.stringify(put.body))
})

export const callTool = (who: Someone, tool: string, body: object = {}, key?: string) =>
  request(who, "POST", `/tools/${tool}/call`, body, key)

/** The call as its maker reads it, once it has settled. */
export const settled = Effect.fnUntraced(function* (who: Someone, id: string) {
  const answer = yield* request(who, "GET", `/calls/${id}?wait=20`)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return told(answer)
})

export const callNow = (who: Someone, id: string) => Effect.map(request(who, "GET", `/calls/${id}`), told)

/** Whatever waits for a decision has been dealt with. */
export const resumed = Effect.flatMap(Readers, (readers) => readers.receipt("calls"))

export const rowOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<Record<string, unknown>>`SELECT * FROM calls WHERE id = ${id}`)[0]
})

/** The kinds of the events that name an id, in order. */
export const eventsOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ kind: string }>`SELECT kind FROM journal WHERE body LIKE ${`%${id}%`} ORDER BY cursor`
  return rows.map((row) => row.kind)
})

export const journalEnd = Effect.flatMap(Journal, (journal) => journal.end)

/** A private space, opened by its first member. */
export const room = Effect.fnUntraced(function* (owner: Someone, ...members: ReadonlyArray<Someone>) {
  const name = fresh("room")
  const made = yield* request(owner, "POST", "/spaces", {
    name,
    kind: "private",
    members: members.map((one) => one.id),
  })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return told(made).id
})

/** A person who rules the house, and did not build it. */
export const ruler = Effect.fnUntraced(function* () {
  const who = yield* someone()
  const changed = yield* request(yield* admin, "PATCH", `/principals/${who.id}`, { roles: ["admin"] })
  assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
  return who
})

/** A service that counts, and answers each request when it is told to. */
export const holding = Effect.gen(function* () {
  const arrivals = yield* Queue.unbounded<{
    readonly body: string
    readonly answer: (words?: string) => void
    readonly closed: Effect.Effect<void>
  }>()
  const stub = yield* http((_, response, body) => {
    const closed = Deferred.makeUnsafe<void>()
    response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
    Queue.offerUnsafe(arrivals, {
      body,
      closed: Deferred.await(closed),
      answer: (words = '{"said":"yes"}') =>
        void response.writeHead(200, { "content-type": "application/json" }).end(words),
    })
  })
  return { ...stub, arrived: Queue.take(arrivals) }
})

/** A service that counts and answers at once. */
export const answering = (words = '{"said":"yes"}') =>
  http((_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(words))

/** An http tool of a service. */
export const httpTool = (url: string, over: object = {}) =>
  configure({
    executionType: "gateway",
    inputSchema: { type: "object", properties: { word: { type: "string" } } },
    execution: { url: `${url}/do`, method: "POST", body: { word: "{{input.word?}}" } },
    ...over,
  })

/** A tool of the test's own. */
export const offer = Effect.fnUntraced(function* (
  effects: Traits["effects"],
  handler: HouseHandler,
  { requiresApproval = false, ...traits }: Partial<Traits> & { readonly requiresApproval?: boolean } = {},
) {
  const name = fresh("own")
  const definition = {
    name,
    description: "A tool of a test.",
    parameters: [],
    inputSchema: { type: "object" },
    riskLevel: "low",
    timeoutMs: 30_000,
    requiresApproval,
    source: "function",
  } as const
  yield* (yield* Catalogue).offer("configured", { definition, handler }, { effects, reviewed: true, ...traits })
  return name
})
