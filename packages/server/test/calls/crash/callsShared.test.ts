/** Two processes on one Postgres database: neither fails what the other runs, and what a dead one ran is failed once. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it, layer } from "@effect/vitest"
import type { CallId } from "@stoa/contract"
import { connect } from "@stoa/sdk"
import { Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Calls } from "../../../src/calls/Calls.ts"
import { unsettled } from "../../../src/calls/road/record/rows.ts"
import { Servers } from "../../../src/servers/Servers.ts"
import { newId } from "../../../src/store/journal/Correlation.ts"
import { admin, callsHouse, config, holding, rowOf, settled, told } from "../callsKit.ts"
import { send, token } from "../../killedHouse.ts"
import { changing } from "../../servers/serversKit.ts"
import { someone } from "../../spaces/spacesGuests.ts"
import { spawned } from "../../store/crash/crashProcess.ts"
import { tempDatabase, tempFolder } from "../../stores.ts"

const shared = Effect.fnUntraced(function* (database: string) {
  const folder = yield* tempFolder
  writeFileSync(join(folder, "stoa.config.json"), JSON.stringify(config))
  const child = yield* spawned(new URL("./callsProcess.ts", import.meta.url), [folder, token, database, "shared"])
  const line = yield* child.line
  assert.match(line, /^ready /)
  return { child, url: line.slice("ready ".length) }
})

it.live(
  "G-22 S4-118 a second process leaves the first one's running calls alone, and fails them once it is dead",
  () =>
    Effect.gen(function* () {
      const database = Redacted.value((yield* tempDatabase).url)
      const service = yield* holding
      const first = yield* shared(database)
      yield* send(first.url, token, "POST", "/principals", { kind: "agent", name: "bot" })
      const bot = (yield* send(first.url, token, "POST", "/tokens", { principal: "bot" })).body["token"] as string
      yield* send(first.url, token, "POST", "/tools", {
        name: "acts",
        description: "Does it.",
        inputSchema: { type: "object" },
        executionType: "gateway",
        execution: { url: `${service.url}/do`, method: "POST" },
      })
      const call = Effect.fnUntraced(function* () {
        const made = told(yield* send(first.url, bot, "POST", "/tools/acts/call", { wait: 0 }))
        return { id: made.id, at: yield* service.arrived }
      })
      const kept = yield* call()
      const cut = yield* call()
      const stopped = yield* call()

      // It recovers when it starts, and with every beat: what the first one runs is alive.
      const second = yield* shared(database)
      const now = (id: string) => Effect.map(send(second.url, token, "GET", `/calls/${id}`), told)
      assert.strictEqual((yield* now(kept.id)).state, "running")

      // Stopped from the other process, its handler is interrupted where it runs.
      yield* send(second.url, token, "POST", `/calls/${stopped.id}/cancel`)
      yield* stopped.at.closed
      assert.strictEqual((yield* now(stopped.id)).state, "canceled")

      // Whoever waits at the second hears from the journal that the first has ended it, long before the wait is over.
      const waited = yield* Effect.forkChild(send(second.url, token, "GET", `/calls/${kept.id}?wait=300`))
      kept.at.answer()
      assert.strictEqual(told(yield* Fiber.join(waited)).state, "done")

      yield* first.child.kill
      const end = told(yield* send(second.url, token, "GET", `/calls/${cut.id}?wait=30`))
      assert.strictEqual(end.state, "failed")
      assert.include(end.error?.message, "not known")
      yield* second.child.kill
    }),
  120_000,
)

/** Asked until it is so: the other process hears of it by itself, in its own time. */
const eventually = Effect.fnUntraced(function* <A>(ask: Effect.Effect<A>, isSo: (answer: A) => boolean) {
  for (;;) {
    const answer = yield* ask
    if (isSo(answer)) return answer
    yield* Effect.sleep("20 millis")
  }
})

it.live(
  "G-22 tools and hosts that one process is given are offered by the other, changed there and withdrawn",
  () =>
    Effect.gen(function* () {
      const database = Redacted.value((yield* tempDatabase).url)
      const [first, second] = [yield* shared(database), yield* shared(database)]
      const form = (description: string) => ({
        name: "greets",
        description,
        inputSchema: { type: "object" },
        executionType: "internal",
        execution: { output: { hello: description } },
      })
      const shown = Effect.map(send(second.url, token, "GET", "/tools?limit=100"), ({ body }) =>
        (body["items"] as ReadonlyArray<{ name: string; description: string }>).filter(({ name }) =>
          ["greets", "adds"].includes(name),
        ),
      )
      yield* send(first.url, token, "POST", "/tools", form("one"))
      yield* eventually(shown, (items) => items.some(({ description }) => description === "one"))
      yield* send(first.url, token, "PUT", "/tools/greets", form("two"))
      yield* eventually(shown, (items) => items.some(({ description }) => description === "two"))
      const called = told(yield* send(second.url, token, "POST", "/tools/greets/call", { input: {} }))
      assert.deepStrictEqual(called.output, { hello: "two" })
      yield* send(first.url, token, "DELETE", "/tools/greets")
      yield* eventually(shown, (items) => items.length === 0)

      // Its process is connected to the first; whoever calls asks the second.
      const host = connect({ url: first.url, token }).host({ name: "sums" })
      host.tool<{ readonly a: number; readonly b: number }>(
        "adds",
        { description: "Adds.", inputSchema: { type: "object" } },
        ({ a, b }) => a + b,
      )
      yield* Effect.promise(() => host.start())
      yield* eventually(shown, (items) => items.some(({ name }) => name === "adds"))
      const sum = yield* eventually(
        Effect.map(send(second.url, token, "POST", "/tools/adds/call", { input: { a: 1, b: 2 }, wait: 20 }), told),
        ({ state }) => state !== "failed",
      )
      assert.deepStrictEqual([sum.state, sum.output], ["done", 3])
      yield* Effect.promise(() => host.stop())
      yield* eventually(shown, (items) => items.length === 0)
      yield* first.child.kill
      yield* second.child.kill
    }),
  120_000,
)

/** The stream of the admin's host "sums", once calls come on it. */
const line = (url: string, instance: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`${url}/api/v1/hosts/sums/calls?instance=${instance}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    const until = async (part: string) => {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`it ended before "${part}": ${text}`)
        text += value
      }
    }
    await until("event: ready")
    return { until, stop: () => reader.cancel() }
  })

it.live(
  "G-22 a host whose process connects to another house process is there alone: the old line is closed, and its end changes nothing",
  () =>
    Effect.gen(function* () {
      const database = Redacted.value((yield* tempDatabase).url)
      const [first, second] = [yield* shared(database), yield* shared(database)]
      const tools = [{ name: "adds", description: "Adds.", inputSchema: { type: "object" } }]
      yield* send(first.url, token, "PUT", "/hosts/sums", { tools })
      const old = yield* line(first.url, "instance-one")
      const now = yield* line(second.url, "instance-two")
      yield* Effect.promise(() => old.until('"reason":"replaced"'))
      yield* Effect.promise(() => old.stop())
      // Called at the first, sent by the second: the first knows that the host is still there.
      const call = told(yield* send(first.url, token, "POST", "/tools/adds/call", { input: {}, wait: 0 }))
      yield* Effect.promise(() => now.until(call.id))
      const { body } = yield* send(first.url, token, "GET", "/hosts")
      const [host] = body["items"] as ReadonlyArray<{ readonly connected: boolean }>
      assert.isTrue(host!.connected)
      assert.strictEqual(told(yield* send(first.url, token, "GET", `/calls/${call.id}`)).state, "waiting")
      yield* Effect.promise(() => now.stop())
      yield* eventually(send(first.url, token, "GET", "/hosts"), (answer) =>
        (answer.body["items"] as ReadonlyArray<{ readonly connected: boolean }>).every(({ connected }) => !connected),
      )
      yield* first.child.kill
      yield* second.child.kill
    }),
  120_000,
)

it.live(
  "G-22 a host that is made private at one process gets nothing more of others at the other, and answers nothing there",
  () =>
    Effect.gen(function* () {
      const database = Redacted.value((yield* tempDatabase).url)
      const [first, second] = [yield* shared(database), yield* shared(database)]
      const tools = [{ name: "adds", description: "Adds.", inputSchema: { type: "object" } }]
      yield* send(first.url, token, "POST", "/principals", { kind: "agent", name: "bot" })
      const bot = (yield* send(first.url, token, "POST", "/tokens", { principal: "bot" })).body["token"] as string
      yield* send(first.url, token, "PUT", "/hosts/sums", { tools })
      const stream = yield* line(first.url, "instance-one")
      const call = (url: string, who: string) => send(url, who, "POST", "/tools/adds/call", { input: {}, wait: 0 })
      yield* eventually(call(second.url, bot), ({ status }) => status < 400)
      const { id } = told(yield* call(second.url, bot))
      yield* Effect.promise(() => stream.until(id))
      const own = told(yield* call(first.url, token))
      yield* Effect.promise(() => stream.until(own.id))
      assert.strictEqual((yield* send(second.url, token, "PUT", "/hosts/sums", { tools, shared: false })).status, 200)
      const failed = told(yield* send(first.url, bot, "GET", `/calls/${id}`))
      assert.deepInclude(failed, { state: "failed" })
      assert.match(failed.error!.message, /is now for its owner alone; it may have run/)
      const result = (call: string) => send(first.url, token, "POST", `/calls/${call}/result`, { output: 3 })
      assert.strictEqual((yield* result(id)).status, 409)
      assert.strictEqual((yield* result(own.id)).status, 200)
      // The first may still offer it for a moment; what comes meanwhile fails unsent.
      const late = yield* call(first.url, bot)
      if (late.status < 400)
        yield* eventually(
          Effect.map(send(first.url, bot, "GET", `/calls/${told(late).id}`), told),
          ({ state }) => state === "failed",
        )
      yield* eventually(call(first.url, bot), ({ status }) => status === 404)
      yield* Effect.promise(() => stream.stop())
      yield* first.child.kill
      yield* second.child.kill
    }),
  120_000,
)

/** A call whose server has made a task of it, in the row that its dead process left. */
const left = Effect.fnUntraced(function* (tool: string) {
  const sql = yield* SqlClient.SqlClient
  const id = newId<CallId>("call")
  const { id: principal } = yield* someone("agent")
  const made = { idempotencyKey: null, input: "{}", digest: "", fingerprint: null, space: null, customUi: null }
  const shown = { context: "internal", visibility: "hidden", rule: null, correlationId: "0".repeat(32), message: null }
  const rest = { createdAt: "2026-01-01T00:00:00.000Z", run: null, step: null, place: null, copyOf: null, resume: null }
  const row = { ...made, ...shown, ...rest, ...unsettled, id, principal, tool, state: "running", owner: "own_dead" }
  yield* sql`INSERT INTO calls ${sql.insert(row)}`
  const state = '{"task":"one","pollMs":1000}'
  const asked = { call: id, questions: "{}", answers: "{}", state, decision: null, client: null, holder: null }
  yield* sql`INSERT INTO call_questions ${sql.insert({ ...asked, isTask: true })}`
  return id
})

layer(callsHouse({ store: "postgres" }), { excludeTestServices: true, timeout: 60_000 })(
  "what a dead one left",
  (it) => {
    it.effect("G-22 a call that waits here for its server is left alone once another process has continued it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [calls, servers] = [yield* Calls, yield* Servers]
        const [taken, lost] = [yield* left("later/echo"), yield* left("later/echo")]
        let waits = 0
        const { onChange } = servers
        Object.assign(servers, { onChange: (hear: () => void) => (waits++, onChange(hear)) })
        yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(servers, { onChange })))
        assert.strictEqual(yield* calls.recover, 0)
        assert.strictEqual(yield* calls.recover, 0)

        yield* sql`INSERT INTO holders ${sql.insert({ id: "own_other", leaseUntil: 1e15 })}`
        yield* sql`UPDATE calls SET owner = 'own_other' WHERE id = ${taken}`
        // With its server both go on here, and neither may: their tool is not the one that was called.
        yield* servers.add({ name: "later", ...changing({ echo: "says it" }).spec })
        assert.strictEqual((yield* settled(yield* admin, lost)).state, "failed")
        assert.include(yield* rowOf(taken), { state: "running", owner: "own_other" })
        assert.lengthOf(yield* sql`SELECT call FROM call_questions WHERE call = ${taken}`, 1)
        assert.strictEqual(waits, 2)
      }),
    )
  },
)
