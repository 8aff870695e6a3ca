/** Calls through the door, on both databases: what is written, what is answered, what a retry finds. */
import { assert, layer } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { Guest, house } from "../house.ts"
import { call as request, fresh, someone, type Someone } from "../spaces/spacesGuests.ts"

const tool = (over: object = {}) => ({
  name: fresh("tool"),
  description: "Says what it was told to say.",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, additionalProperties: false },
  executionType: "internal",
  execution: { output: { status: "ok" } },
  ...over,
})

const countOf = (name: string) =>
  Effect.map(Metric.snapshot, (metrics) => {
    const found = metrics.find(({ id }) => id === name)
    return found === undefined ? 0 : Number((found.state as { readonly count: number | bigint }).count)
  })

const admin = Effect.map(Guest, ({ adminToken }) => ({ token: adminToken }) as Someone)
const configure = Effect.fnUntraced(function* (over: object = {}) {
  const form = tool(over)
  const made = yield* request(yield* admin, "POST", "/tools", form)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return form
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`calls on ${store}`, (it) => {
    it.effect("X-44 S4-28 a call of a configured tool is one row, two events and one audit entry", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const bot = yield* someone("agent")
        const { name } = yield* configure()
        const { body, status } = yield* request(bot, "POST", `/tools/${name}/call`, { input: { word: "hi" } })
        assert.strictEqual(status, 200, JSON.stringify(body))
        const { id } = body as { id: string }
        assert.deepInclude(body as object, { tool: name, state: "done", output: { status: "ok" } })
        assert.strictEqual((yield* sql`SELECT id FROM calls WHERE id = ${id}`).length, 1)
        const kinds = yield* sql`SELECT kind FROM journal WHERE body LIKE ${`%${id}%`} ORDER BY cursor`
        assert.deepStrictEqual(
          kinds.map((row) => row["kind"]),
          ["call.received", "call.settled"],
        )
        yield* (yield* Readers).receipt("audit")
        const audited = yield* request(yield* admin, "GET", `/audit?tool=${name}`)
        const { items } = audited.body as { items: Array<Record<string, unknown> & { action: string }> }
        const [event] = yield* sql<{ correlationId: string }>`SELECT correlation_id FROM journal
          WHERE kind = 'call.settled' AND body LIKE ${`%${id}%`}`
        const rows = items.filter((one) => one.action === "tool.execute")
        assert.lengthOf(rows, 1)
        assert.deepInclude(rows[0], {
          principal: bot.id,
          resource: `tools/${name}`,
          result: "success",
          call: id,
          correlationId: event!.correlationId,
        })
      }),
    )

    it.effect("S4-22 unknown beats denied, and denied beats invalid", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const { name } = yield* configure()
        const use = (tool: string, input: object) =>
          Effect.map(
            request(bot, "POST", `/tools/${tool}/call`, { input }),
            ({ body }) => (body as { readonly tag?: string }).tag,
          )
        assert.strictEqual(yield* use(name, { word: 5 }), "ToolValidationError")
        yield* request(yield* admin, "POST", "/grants", {
          principal: bot.id,
          resource: "tools/*",
          actions: ["execute"],
          effect: "deny",
        })
        assert.strictEqual(yield* use(name, { word: 5 }), "ToolAuthorizationError")
        assert.strictEqual(yield* use(fresh("nowhere"), { word: 5 }), "ToolNotFoundError")
      }),
    )

    it.effect(
      "S0-49 S0-50 S4-30 S4-113 a call and its return are recorded once, also when it fails or is refused",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const bot = yield* someone("agent")
          const works = yield* configure()
          const breaks = yield* configure({ executionType: "gateway", execution: { url: "http://127.0.0.1:1/" } })
          const denied = yield* configure()
          const deny = { principal: bot.id, resource: `tools/${denied.name}`, actions: ["execute"], effect: "deny" }
          yield* request(yield* admin, "POST", "/grants", deny)
          const table = [
            [works.name, { word: "hi" }, "done", "success"],
            [breaks.name, {}, "failed", "failure"],
            [works.name, { word: 5 }, "refused", "failure"],
            [denied.name, {}, "refused", "denied"],
          ] as const
          const figures = ["tools.executions", "tools.execution_duration_ms", "tools.errors"]
          const counted = yield* Effect.forEach(figures, countOf)
          for (const [name, input, state, result] of table) {
            const before = yield* (yield* Journal).end
            yield* request(bot, "POST", `/tools/${name}/call`, { input })
            const rows = yield* sql<{ id: string; state: string }>`SELECT id, state FROM calls
            WHERE principal = ${bot.id} ORDER BY created_at DESC, id DESC LIMIT 1`
            assert.strictEqual(rows[0]!.state, state, name)
            const kinds = yield* sql<{ kind: string }>`SELECT kind FROM journal
            WHERE cursor > ${before} AND body LIKE ${`%${rows[0]!.id}%`} ORDER BY cursor`
            assert.deepStrictEqual(
              kinds.map(({ kind }) => kind),
              ["call.received", "call.settled"],
              name,
            )
            yield* (yield* Readers).receipt("audit")
            const { items } = (yield* request(yield* admin, "GET", `/audit?principal=${bot.id}&limit=100`)).body as {
              items: Array<{ action: string; result: string; call?: string }>
            }
            assert.deepStrictEqual(
              items.filter(({ call }) => call === rows[0]!.id).map((one) => [one.action, one.result]),
              [["tool.execute", result]],
              name,
            )
          }
          const { n } = (yield* sql<{ n: number }>`SELECT count(*) AS n FROM calls WHERE principal = ${bot.id}`)[0]!
          assert.strictEqual(n, table.length)
          assert.deepStrictEqual(
            (yield* Effect.forEach(figures, countOf)).map((now, at) => now - counted[at]!),
            [table.length, table.length, table.length - 1],
          )
        }),
    )
  })
