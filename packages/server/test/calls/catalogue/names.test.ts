/** Names that are no tool's, at every door: looked up in the catalogue before anything is dispatched, and never a crash. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest, house, roomy } from "../../house.ts"
import { initialized, newRequest, oldRequest } from "../../mcp/mcpKit.ts"

/** Members of objects and of our own services, methods of protocols, paths and nothing at all. */
const names = [
  "foo",
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Function.prototype),
  "prototype",
  "then",
  "default",
  "execute",
  "handler",
  "definition",
  "_private",
  "#private",
  "tools",
  "tools/call",
  "tools/list",
  "initialize",
  "hello.constructor",
  "hello/constructor",
  "hello__proto__",
  "__proto____hello",
  "Hello",
  "hello ",
  "../hello",
  "hello\u0000",
  "héllo",
  "a".repeat(300),
  "*",
  "configured/hello",
]

const config = {
  ...roomy,
  tools: [
    {
      name: "hello",
      description: "Says hello",
      inputSchema: { type: "object", properties: {} },
      executionType: "internal",
      execution: { output: { hello: "there" } },
    },
  ],
}

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 60_000 })(
    `names that are no tool's, on ${store}`,
    (it) => {
      it.effect("S0-76 S3-74 over HTTP each is an error that says so, runs nothing, and stops nothing", () =>
        Effect.gen(function* () {
          const { adminToken, raw } = yield* Guest
          const call = (name: string) =>
            ask(async () => {
              const answer = await raw(`/api/v1/tools/${encodeURIComponent(name)}/call`, {
                method: "POST",
                headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
                body: JSON.stringify({ input: {} }),
              })
              return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
            })
          for (const name of names) {
            const { body, status } = yield* call(name)
            assert.include([400, 404], status, name)
            assert.include(["ToolNotFoundError", "BadInput", "NoRoute"], body["tag"], name)
          }
          const { body } = yield* call("foo")
          assert.deepInclude(body, { tag: "ToolNotFoundError", toolName: "foo" })
          assert.deepInclude((yield* call("hello")).body, { state: "done", output: { hello: "there" } })
          const sql = yield* SqlClient.SqlClient
          const done = yield* sql<{ tool: string }>`SELECT tool FROM calls WHERE state = 'done'`
          assert.deepStrictEqual(
            done.map(({ tool }) => tool),
            ["hello"],
          )
        }),
      )

      it.effect("S0-76 S3-74 over MCP, in both eras, each is -32602, and a method that is none is -32601", () =>
        Effect.gen(function* () {
          const { adminToken, url } = yield* Guest
          const at = `${url}/mcp`
          const session = yield* ask(() => initialized(at, adminToken))
          const ways = {
            old: (method: string, params: Record<string, unknown>) =>
              oldRequest(at, adminToken, method, params, session),
            new: (method: string, params: Record<string, unknown>) => newRequest(at, adminToken, method, params),
          }
          // Header values are ASCII: the new era's clients encode the others, and the kit does not.
          const plain = names.filter((name) => /^[\x21-\x7e]+$/.test(name))
          for (const [era, request] of Object.entries(ways)) {
            for (const name of era === "old" ? names : plain) {
              const { body } = yield* ask(() => request("tools/call", { name, arguments: {} }))
              // A NUL makes the whole message one that is not taken.
              const code = name.includes("\u0000") ? -32600 : -32602
              assert.strictEqual(body.error?.code, code, `${era} ${name}: ${JSON.stringify(body)}`)
            }
            for (const method of ["constructor", "__proto__", "toString", "tools/constructor", "tools/call/x"]) {
              const { body } = yield* ask(() => request(method, {}))
              assert.strictEqual(body.error?.code, -32601, `${era} ${method}: ${JSON.stringify(body)}`)
            }
            const { body } = yield* ask(() => request("tools/call", { name: "hello", arguments: {} }))
            assert.deepStrictEqual(JSON.parse(body.result.content[0].text), { hello: "there" })
          }
          // A name that is too long is a refused call like any other: it has a row, with the beginning of the name.
          const sql = yield* SqlClient.SqlClient
          const long = yield* sql<{ state: string; tool: string }>`SELECT state, tool FROM calls
            WHERE tool LIKE ${"aaaa%"}`
          assert.isAtLeast(long.length, 2)
          for (const { state, tool } of long) assert.deepStrictEqual([state, tool], ["refused", "a".repeat(257)])
        }),
      )
    },
  )
