/** Calls and decisions past their days, on both databases: what goes, what stays, and a removal that is killed midway. */
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Files } from "../../src/store/Files.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { Timers } from "../../src/store/journal/Timers.ts"
import {
  admin,
  answering,
  callNow,
  callsHouse,
  callTool,
  configure,
  httpTool,
  request,
  room,
  settled,
  stores,
  type Told,
  told,
} from "./callsKit.ts"
import { homes, kill, look, send, start, token } from "../killedHouse.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"
import { until } from "../stores.ts"

const name = "call-retention"
const long = "2020-01-01T00:00:00.000Z"

/** The day is over: what is past its days has gone when this returns. */
const dayOver = Effect.gen(function* () {
  const journal = yield* Journal
  const timers = yield* Timers
  const after = yield* journal.end
  yield* journal.transact(timers.set({ purpose: name, key: name, dueAt: yield* DateTime.now, payload: null }))
  const fired = yield* journal.read({ after, limit: 1000, kinds: ["timer.fired"] }).pipe(
    Effect.repeat({
      until: (events) => events.some((one) => one.kind === "timer.fired" && one.body.purpose === name),
    }),
  )
  yield* (yield* Readers).receipt(name, fired.at(-1)!.cursor)
})

const daysAgo = (days: number) =>
  Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.subtract(now, { seconds: days * 86_400 })))

/** As if it had happened long ago; what has not settled has not. */
const age = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, to = long) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE calls SET created_at = ${to}, settled_at = CASE WHEN settled_at IS NULL THEN NULL ELSE ${to} END
    WHERE ${sql.in("id", ids)}`
  yield* sql`UPDATE decisions SET created_at = ${to}, answered_at = CASE WHEN answered_at IS NULL THEN NULL ELSE ${to} END
    WHERE ${sql.in("call", ids)}`
  yield* sql`UPDATE files SET created_at = ${to}`
})

const done = Effect.fnUntraced(function* (who: Someone, tool: string, body: object = {}, key?: string) {
  const call = told(yield* callTool(who, tool, body, key))
  assert.strictEqual(call.state, "done", JSON.stringify(call))
  return call
})
const statusOf = (who: Someone, path: string) => Effect.map(request(who, "GET", path), ({ status }) => status)
const says = (value: unknown) => configure({ execution: { output: value } })
const large = (letter: string) => letter.repeat(70_000)

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `retention of calls on ${store}`,
    (on) => {
      on.effect("a call that settled long ago goes, and is as one that never was; what is younger or open stays", () =>
        Effect.gen(function* () {
          const [bot, pam] = [yield* someone("agent"), yield* someone()]
          const stub = yield* answering()
          const space = yield* room(pam, bot)
          const tool = yield* httpTool(stub.url)
          const asks = yield* httpTool(stub.url, { requiresApproval: true })
          const [old, young, late] = [
            yield* done(bot, tool.name),
            yield* done(bot, tool.name),
            yield* done(bot, tool.name),
          ]
          const refused = yield* callTool(bot, tool.name, { input: { word: 7 } })
          assert.strictEqual(refused.status, 400)
          const { items } = (yield* request(bot, "GET", "/calls?state=refused")).body as { items: ReadonlyArray<Told> }
          const refusedId = items[0]!.id
          const ask = Effect.map(callTool(bot, asks.name, { space }), told)
          const [waits, once] = [yield* ask, yield* ask]
          const answer = (call: typeof once, more: object = {}) =>
            request(pam, "POST", `/decisions/${call.on!.id}/answer`, { verdict: "approve", ...more })
          assert.strictEqual((yield* answer(once)).status, 200)
          yield* settled(bot, once.id)
          yield* age([old.id, late.id, refusedId, waits.id, once.id])
          const sql = yield* SqlClient.SqlClient
          const now = DateTime.formatIso(yield* DateTime.now)
          yield* sql`UPDATE calls SET settled_at = ${now} WHERE id = ${late.id}`
          yield* dayOver
          const never = yield* request(bot, "GET", "/calls/call_0")
          for (const id of [old.id, refusedId, once.id]) {
            const gone = yield* request(bot, "GET", `/calls/${id}`)
            assert.deepStrictEqual([gone.status, told(gone).tag], [404, told(never).tag])
            assert.strictEqual((yield* request(bot, "POST", `/calls/${id}/cancel`)).status, 404)
          }
          for (const id of [young.id, late.id]) assert.strictEqual((yield* callNow(bot, id)).state, "done")
          const left = (yield* request(bot, "GET", "/calls")).body["items"] as ReadonlyArray<{ id: string }>
          assert.sameMembers(
            left.map(({ id }) => id),
            [young.id, late.id, waits.id],
          )
          assert.strictEqual(yield* statusOf(pam, `/decisions/${once.on!.id}`), 404)
          assert.strictEqual((yield* answer(once)).status, 404)
          // What waited through it is answered and runs.
          assert.strictEqual((yield* answer(waits)).status, 200)
          assert.strictEqual((yield* settled(bot, waits.id)).state, "done")
          const next = yield* sql<{ dueAt: string }>`SELECT due_at FROM timers WHERE key = ${name}`
          assert.closeTo(Date.parse(next[0]!.dueAt), Date.now() + 3600 * 1000, 60_000)
        }),
      )

      on.effect("G-22 a key is its call's for as long as the call is kept, and free after that", () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const stub = yield* answering()
          const tool = yield* httpTool(stub.url)
          const first = yield* done(bot, tool.name, {}, "once")
          // A day is the least a house can be told: nothing that is younger goes, whatever comes.
          yield* dayOver
          assert.strictEqual((yield* done(bot, tool.name, {}, "once")).id, first.id)
          assert.lengthOf(stub.seen, 1)
          yield* age([first.id])
          yield* dayOver
          const second = yield* done(bot, tool.name, { input: { word: "other" } }, "once")
          assert.notStrictEqual(second.id, first.id)
          assert.lengthOf(stub.seen, 2)
        }),
      )

      on.effect("a decision stays while an approval stands on it, and goes once that was revoked long ago", () =>
        Effect.gen(function* () {
          const [bot, boss] = [yield* someone("agent"), yield* admin]
          const sql = yield* SqlClient.SqlClient
          const tool = yield* httpTool((yield* answering()).url, { requiresApproval: true })
          const asked = told(yield* callTool(bot, tool.name))
          const decision = `/decisions/${asked.on!.id}`
          yield* request(boss, "POST", `${decision}/answer`, { verdict: "approve", reach: "always" })
          yield* settled(bot, asked.id)
          yield* age([asked.id])
          yield* dayOver
          assert.strictEqual(yield* statusOf(bot, `/calls/${asked.id}`), 404)
          assert.strictEqual(yield* statusOf(boss, decision), 200)
          yield* done(bot, tool.name)
          const [standing] = (yield* request(bot, "GET", "/approvals")).body["items"] as ReadonlyArray<{ id: string }>
          assert.strictEqual((yield* request(boss, "DELETE", `/approvals/${standing!.id}`)).status, 204)
          yield* dayOver
          assert.strictEqual(yield* statusOf(boss, decision), 200)
          yield* sql`UPDATE approvals SET revoked_at = ${long} WHERE id = ${standing!.id}`
          yield* dayOver
          assert.strictEqual(yield* statusOf(boss, decision), 404)
        }),
      )

      on.effect("G-30 a large result goes with the last call that has it, and what a space was shown stays", () =>
        Effect.gen(function* () {
          const [bot, pam, boss] = [yield* someone("agent"), yield* someone(), yield* admin]
          const space = yield* room(pam, bot)
          const [own, both, put] = [yield* says(large("o")), yield* says(large("b")), yield* says(large("p"))]
          const speaks = yield* answering(JSON.stringify(large("s")))
          const shows = yield* httpTool(speaks.url, { visibility: "visible" })
          const ofOwn = yield* done(bot, own.name)
          const ofBoth = [yield* done(bot, both.name), yield* done(bot, both.name)]
          const ofPut = yield* done(bot, put.name)
          const shown = yield* done(bot, shows.name, { space })
          yield* age([ofOwn.id, ofBoth[0]!.id, ofPut.id, shown.id])
          // Somebody has just put the same bytes, and has yet to say what for.
          const files = yield* Files
          yield* files.put(Buffer.from(JSON.stringify(large("p"))), "application/json")
          yield* dayOver
          const file = (who: Someone, call: typeof ofOwn) => statusOf(who, `/files/${call.outputFile!.file}`)
          assert.strictEqual(yield* file(boss, ofOwn), 404)
          assert.strictEqual(yield* file(bot, ofBoth[1]!), 200)
          assert.strictEqual(yield* file(boss, ofPut), 200)
          assert.strictEqual(yield* file(pam, shown), 200)
          for (const [call, status] of [
            [ofOwn, 404],
            [ofBoth[0]!, 404],
            [ofBoth[1]!, 200],
            [ofPut, 404],
            [shown, 200],
          ] as const)
            assert.strictEqual(yield* statusOf(bot, `/calls/${call.id}`), status)
          yield* age([ofBoth[1]!.id])
          yield* dayOver
          assert.strictEqual(yield* file(boss, ofBoth[1]!), 404)
        }),
      )

      on.effect("more than goes at once goes in steps, also where large results make the steps small", () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const sql = yield* SqlClient.SqlClient
          const small = yield* says("little")
          const ids = yield* Effect.forEach(
            Array.from({ length: 450 }),
            () => Effect.map(done(bot, small.name), ({ id }) => id),
            { concurrency: 64 },
          )
          for (const letter of "abcdefghij") ids.push((yield* done(bot, (yield* says(large(letter))).name)).id)
          const young = yield* done(bot, small.name)
          yield* age(ids)
          yield* dayOver
          const left = yield* sql<{ id: string }>`SELECT id FROM calls WHERE principal = ${bot.id}`
          assert.deepStrictEqual(
            left.map(({ id }) => id),
            [young.id],
          )
        }),
      )
    },
  )

for (const [env, kept, gone] of [
  [{}, 89.9, 90.1],
  [{ STOA_CALLS_DAYS: "2" }, 1.9, 2.1],
] as const)
  layer(callsHouse({ store: "sqlite", env }), { excludeTestServices: true, timeout: 60_000 })(
    `retention of calls with ${JSON.stringify(env)}`,
    (on) => {
      on.effect(`a call is kept for its days and no longer: ${kept} days, not ${gone}`, () =>
        Effect.gen(function* () {
          const bot = yield* someone("agent")
          const tool = yield* says("yes")
          const [before, after] = [yield* done(bot, tool.name), yield* done(bot, tool.name)]
          yield* age([before.id], yield* daysAgo(gone))
          yield* age([after.id], yield* daysAgo(kept))
          yield* dayOver
          assert.strictEqual(yield* statusOf(bot, `/calls/${before.id}`), 404)
          assert.strictEqual(yield* statusOf(bot, `/calls/${after.id}`), 200)
        }),
      )
    },
  )

/** Very many old calls like one, some of them with a large result: rows of a house that is not there. */
const multiply = (id: string, count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<Record<string, unknown>>`SELECT * FROM calls WHERE id = ${id}`
    const [decision] = yield* sql<Record<string, unknown>>`SELECT * FROM decisions WHERE call = ${id}`
    const numbers = Array.from({ length: count }, (_, at) => String(at).padStart(6, "0"))
    const calls = numbers.map((at, n) => ({
      ...row,
      id: `call_0-${at}`,
      createdAt: long,
      settledAt: long,
      ...(n % 10 === 0 ? { output: null, outputFile: `fil_${at}`, outputSize: 70_000 } : {}),
    }))
    const files = numbers
      .filter((_, n) => n % 10 === 0)
      .map((at) => ({ id: `fil_${at}`, size: 70_000, mediaType: "x/y", bytes: Buffer.alloc(70_000), createdAt: long }))
    const decisions = numbers.map((at) => ({
      ...decision,
      id: `dcs_0-${at}`,
      call: `call_0-${at}`,
      createdAt: long,
      answeredAt: long,
    }))
    for (const [table, rows] of [
      ["calls", calls],
      ["files", files],
      ["decisions", decisions],
    ] as const)
      for (let from = 0; from < rows.length; from += 100)
        yield* sql`INSERT INTO ${sql(table)} ${sql.insert(rows.slice(from, from + 100) as never)}`
    yield* sql`UPDATE timers SET due_at = ${long}, lease_owner = NULL, lease_until = NULL WHERE key = ${name}`
  })

const left = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ids = (table: string) =>
    Effect.map(sql<{ id: string }>`SELECT id FROM ${sql(table)} ORDER BY id`, (rows) => rows.map(({ id }) => id))
  const calls = yield* sql<{ id: string; outputFile: string | null }>`SELECT id, output_file FROM calls ORDER BY id`
  return { calls, files: yield* ids("files"), decisions: yield* ids("decisions") }
})

describe("a removal that is killed", () => {
  for (const [where, home] of homes)
    it.live(
      `killed in the middle, nothing is half removed, and the next start goes on, on ${where}`,
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const first = yield* start(at)
          const made = yield* send(first.url, token, "POST", "/tools", {
            name: "asks",
            description: "Answers.",
            inputSchema: { type: "object" },
            executionType: "internal",
            execution: { output: "yes" },
            requiresApproval: true,
          })
          assert.strictEqual(made.status, 201, JSON.stringify(made.body))
          yield* send(first.url, token, "POST", "/principals", { kind: "agent", name: "bot" })
          const bot = (yield* send(first.url, token, "POST", "/tokens", { principal: "bot" })).body["token"] as string
          const { id, on } = told(yield* send(first.url, bot, "POST", "/tools/asks/call", {}))
          yield* send(first.url, token, "POST", `/decisions/${on!.id}/answer`, { verdict: "approve" })
          assert.strictEqual(told(yield* send(first.url, bot, "GET", `/calls/${id}?wait=20`)).state, "done")
          yield* kill(at, first.child)
          const count = 3000
          yield* look(at, multiply(id, count))
          const second = yield* start(at)
          const isGone = (url: string, path: string) =>
            Effect.map(send(url, token, "GET", path), ({ status }) => status === 404)
          yield* until(isGone(second.url, "/calls/call_0-000000"))
          yield* kill(at, second.child)
          const then = yield* look(at, left)
          assert.isBelow(then.calls.length, count)
          assert.isAbove(then.calls.length, 2, "it was over before it was killed")
          // A call is there with its file and its decision, or not at all.
          assert.sameMembers(
            then.calls.flatMap(({ outputFile }) => outputFile ?? []),
            then.files,
          )
          for (const call of then.calls) if (call.id !== id) assert.include(then.decisions, `dcs_${call.id.slice(5)}`)
          const third = yield* start(at)
          const last = String(count - 1).padStart(6, "0")
          yield* until(isGone(third.url, `/decisions/dcs_0-${last}`))
          yield* third.child.kill
          assert.deepStrictEqual(yield* look(at, left), {
            calls: [{ id, outputFile: null }],
            files: [],
            decisions: [on!.id],
          })
        }),
      60_000,
    )
})
