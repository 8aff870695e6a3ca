/** A house whose clock is set while it runs: nothing that takes time takes longer, and no row goes because of it. */
import { assert, describe, it } from "@effect/vitest"
import type { Finding } from "@stoa/contract"
import { DateTime, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../src/access/audit/Audit.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { Timers } from "../../src/store/journal/Timers.ts"
import { ask, Guest, house, type HouseOptions } from "../house.ts"
import { newRequest, oldRequest } from "../mcp/mcpKit.ts"
import { ahead, back, wrongClock, type WrongClock } from "../wrongClock.ts"

const stores = ["sqlite", "postgres"] as const
const day = 24

type Services = Guest | SqlClient.SqlClient | Journal | Readers | Timers | Audit | Scope.Scope
/** A test in a house of its own, with a clock of its own. */
const inHouse = (
  options: HouseOptions,
  body: (clock: WrongClock) => Effect.Effect<void, unknown, Services>,
): Effect.Effect<void, unknown> => {
  const clock = wrongClock()
  // The clock is below everything that the house is made of.
  return Effect.scoped(body(clock)).pipe(
    Effect.provide(Layer.fresh(house(options)).pipe(Layer.provideMerge(clock.layer))),
  )
}

const finding = (wanted: string) =>
  Effect.gen(function* () {
    const { admin } = yield* Guest
    const { findings } = yield* ask(() => admin.house.doctor())
    return findings.find(({ check }) => check === wanted) as Finding
  })

/** An hour's work of removing old rows, done. */
const hourOver = (name = "retention") =>
  Effect.gen(function* () {
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

const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql.unsafe<{ n: number }>(`SELECT count(*) AS n FROM ${table}`), ([row]) => row!.n),
  )

for (const store of stores)
  describe(`a clock that is set, on ${store}`, () => {
    it.live("back by four hours: a limit is over when it would have been, and waits take as long as they should", () =>
      inHouse({ store, config: { limits: [{ principal: "*", resource: "http", count: 4, seconds: 4 }] } }, (clock) =>
        Effect.gen(function* () {
          const { adminToken, raw } = yield* Guest
          const me = () => raw("/api/v1/me", { headers: { authorization: `Bearer ${adminToken}` } })
          const many = yield* ask(() => Promise.all(Array.from({ length: 20 }, me)))
          assert.isTrue(many.some(({ status }) => status === 429))
          clock.setOff(back(4))
          // However slow this machine is: whoever waits as long as told gets through.
          for (let answer = yield* ask(me); answer.status !== 200; answer = yield* ask(me)) {
            const wait = Number(answer.headers.get("retry-after"))
            assert.isTrue(answer.status === 429 && wait <= 4, `${answer.status} ${wait}`)
            yield* Effect.sleep(wait * 1000)
          }
        }),
      ),
    )

    it.live("back by four hours: rules given afterwards hold at once, readers go on, and an MCP session lives", () =>
      inHouse({ store }, (clock) =>
        Effect.gen(function* () {
          const { admin, adminToken, url } = yield* Guest
          const bot = yield* ask(() => admin.principals.add({ kind: "agent", name: "bot", toolsets: ["stoa"] }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: bot.id }))
          const hello = yield* ask(() =>
            oldRequest(`${url}/mcp`, token, "initialize", {
              protocolVersion: "2025-11-25",
              capabilities: {},
              clientInfo: { name: "t", version: "1" },
            }),
          )
          const session = hello.headers.get("mcp-session-id")!
          assert.strictEqual((yield* ask(() => newRequest(`${url}/mcp`, token, "tools/list"))).status, 200)
          for (const off of [back(4), ahead(4), 0]) {
            clock.setOff(off)
            yield* ask(() => admin.principals.add({ kind: "agent", name: `another ${off}` }))
            yield* (yield* Readers).receipt("audit")
            const listed = yield* ask(() => oldRequest(`${url}/mcp`, token, "tools/list", {}, session))
            assert.strictEqual(listed.status, 200)
            const messages = yield* ask(() =>
              newRequest(`${url}/mcp`, token, "tools/call", { name: "wait_for_messages", arguments: { seconds: 1 } }),
            )
            assert.strictEqual(messages.status, 200)
          }
          assert.isString(adminToken)
          assert.deepInclude(yield* finding("audit"), { state: "ok" })
        }),
      ),
    )

    it.live("far ahead of its last work: no row goes, doctor and log say so, and an operator lets it go on", () =>
      inHouse({ store }, (clock) =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          assert.deepInclude(yield* finding("clock"), { state: "ok" })
          yield* (yield* Readers).receipt("audit")
          const before = [yield* count("journal"), yield* count("audit")]
          const old = `audit WHERE seq <= ${before[1]}`
          clock.setOff(ahead(400 * day))
          yield* hourOver()
          yield* hourOver("call-retention")
          const told = yield* finding("clock")
          assert.strictEqual(told.state, "warn")
          assert.match(told.detail, /stoa doctor --accept clock/)
          assert.isAtLeast(yield* count("journal"), before[0]!)
          assert.strictEqual(yield* count(old), before[1])
          const { findings } = yield* ask(() => admin.house.accept({ check: "clock" }))
          assert.deepInclude(
            findings.find(({ check }) => check === "clock")!,
            { state: "ok" },
          )
          yield* hourOver()
          assert.strictEqual(yield* count(old), 0)
          const accepted = (yield* ask(() => admin.audit.list({}))).items
          assert.isTrue(accepted.some(({ action, resource }) => action === "accept" && resource === "findings/clock"))
          // Set right again, it is not held back by what was believed.
          clock.setOff(0)
          yield* hourOver()
          assert.deepInclude(yield* finding("clock"), { state: "ok" })
        }),
      ),
    )

    it.live("ahead, and set right by itself: it goes on without anybody", () =>
      inHouse({ store }, (clock) =>
        Effect.gen(function* () {
          yield* hourOver()
          clock.setOff(ahead(30 * day))
          yield* hourOver()
          assert.deepInclude(yield* finding("clock"), { state: "warn" })
          clock.setOff(0)
          assert.deepInclude(yield* finding("clock"), { state: "ok" })
        }),
      ),
    )

    it.live("however much is old, an hour removes a day's worth of it", () =>
      inHouse({ store }, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const readers = yield* Readers
          const { admin } = yield* Guest
          for (let n = 0; n < 8; n++) yield* ask(() => admin.principals.add({ kind: "agent", name: `old ${n}` }))
          yield* Effect.forEach(yield* readers.list, ({ name }) => readers.receipt(name))
          // One a day, beginning two years ago: of the journal, and of kept answers.
          const rows = yield* sql<{
            cursor: number
          }>`SELECT cursor FROM journal WHERE kind = 'principal.added' ORDER BY cursor`
          const start = DateTime.subtract(yield* DateTime.now, { days: 730 })
          for (const [n, { cursor }] of rows.entries()) {
            const at = DateTime.formatIso(DateTime.add(start, { days: n }))
            yield* sql`UPDATE journal SET at = ${at} WHERE cursor = ${cursor}`
            yield* sql`INSERT INTO answers ${sql.insert({ principal: "p", key: `${n}`, request: "r", createdAt: at })}`
          }
          yield* (yield* Journal).readAnew
          const left = Effect.all([
            Effect.map(sql`SELECT 1 FROM journal WHERE kind = 'principal.added'`, (all) => all.length),
            count("answers WHERE principal = 'p'"),
          ])
          for (let gone = 1; gone <= 4; gone++) {
            yield* hourOver()
            assert.deepStrictEqual(yield* left, [rows.length - gone, rows.length - gone])
          }
        }),
      ),
    )

    it.live("a clock that jumps ahead hour by hour does not make it more often than hourly", () =>
      inHouse({ store }, (clock) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const start = DateTime.subtract(yield* DateTime.now, { days: 30 })
          for (let n = 0; n < 10; n++) {
            const createdAt = DateTime.formatIso(DateTime.add(start, { days: n }))
            yield* sql`INSERT INTO answers ${sql.insert({ principal: "p", key: `${n}`, request: "r", createdAt })}`
          }
          yield* hourOver()
          for (let n = 1; n <= 4; n++) {
            clock.setOff(ahead(n))
            yield* hourOver()
          }
          assert.strictEqual(yield* count("answers WHERE principal = 'p'"), 9)
        }),
      ),
    )

    it.live("a lease of a clock that was ahead holds nobody up once it is right", () =>
      inHouse({ store }, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const journal = yield* Journal
          const timers = yield* Timers
          const far = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 4 }))
          // As another process would have left them that died before the clock was set back.
          const id = yield* journal.transact(
            Effect.tap(
              timers.set({ purpose: "test", key: "test", dueAt: yield* DateTime.now, payload: null }),
              (timer) => sql`UPDATE timers SET lease_owner = 'dead', lease_until = ${far} WHERE id = ${timer}`,
            ),
          )
          yield* sql`UPDATE readers SET lease_owner = 'dead', lease_until = ${far} WHERE name = 'audit'`
          const fired = yield* journal.read({ after: 0, limit: 1000, kinds: ["timer.fired"] }).pipe(
            Effect.repeat({
              until: (events) => events.some((one) => one.kind === "timer.fired" && one.body.timer === id),
            }),
          )
          assert.isAbove(fired.length, 0)
          const { admin } = yield* Guest
          yield* ask(() => admin.principals.add({ kind: "agent", name: "after" }))
          yield* (yield* Readers).receipt("audit")
        }),
      ),
    )
  })
