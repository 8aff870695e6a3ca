/** Calls through the door, on both databases: what is written, what is answered, what a retry finds. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/Readers.ts"
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
        const { items } = audited.body as { items: Array<{ action: string; result: string; call?: string }> }
        assert.deepStrictEqual(
          items.filter((one) => one.action === "tool.execute").map(({ call, result }) => ({ call, result })),
          [{ call: id, result: "success" }],
        )
      }),
    )
  })
