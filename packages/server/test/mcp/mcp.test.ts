/** The MCP door over real HTTP: both eras begin, list and call, as the bearer of a token and in no other way. */
import { assert, layer } from "@effect/vitest"
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client"
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { nobodyMayAnswer } from "@stoa/contract"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { envelope, initialized, newRequest, oldRequest, opened } from "./mcpKit.ts"

const config = {
  ...roomy,
  agents: [{ name: "ann" }, { name: "ben" }, { name: "cut" }],
  policies: [{ principal: "cut", effect: "deny", actions: ["execute"], resource: "tools/motto" }],
  tools: [
    {
      name: "wipe",
      description: "Wipes a folder",
      inputSchema: { type: "object", properties: { folder: { type: "string" } }, required: ["folder"] },
      executionType: "internal",
      execution: { output: "wiped" },
      requiresApproval: true,
    },
    {
      name: "motto",
      description: "Says the motto of the house",
      inputSchema: { type: "object", properties: { loud: { type: "boolean" } }, additionalProperties: false },
      executionType: "internal",
      execution: { output: { motto: "festina lente" } },
    },
  ],
}
const about = { name: "t", version: "1" }
const Test = house({ store: "sqlite", config })
const namesIn = (body: { readonly result: { readonly tools: ReadonlyArray<{ readonly name: string }> } }) =>
  body.result.tools.map((one) => one.name)

layer(Test, { timeout: 60_000, excludeTestServices: true })("mcp", (it) => {
  it.effect("S2-77 X-39 initialize echoes every old revision, and never promises the one without a handshake", () =>
    Effect.gen(function* () {
      const { adminToken, url } = yield* Guest
      for (const asked of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"]) {
        const { body, status } = yield* ask(() =>
          oldRequest(`${url}/mcp`, adminToken, "initialize", {
            protocolVersion: asked,
            capabilities: {},
            clientInfo: { name: "t", version: "1" },
          }),
        )
        assert.strictEqual(status, 200)
        assert.strictEqual(body.result.protocolVersion, asked < "2026" && asked > "2000" ? asked : "2025-11-25")
      }
    }),
  )

  it.effect("a configured tool is listed and called in both eras, as text and as structure", () =>
    Effect.gen(function* () {
      const { adminToken, url } = yield* Guest
      const session = yield* ask(() => initialized(`${url}/mcp`, adminToken))
      const old = yield* ask(() => oldRequest(`${url}/mcp`, adminToken, "tools/list", {}, session))
      const now = yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/list"))
      for (const { body } of [old, now]) assert.include(namesIn(body), "motto")
      assert.strictEqual(now.body.result.resultType, "complete")
      const params = { name: "motto", arguments: {} }
      for (const { body } of [
        yield* ask(() => oldRequest(`${url}/mcp`, adminToken, "tools/call", params, session)),
        yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/call", params)),
      ]) {
        assert.deepStrictEqual(body.result.structuredContent, { motto: "festina lente" })
        assert.deepStrictEqual(body.result.content, [{ type: "text", text: '{"motto":"festina lente"}' }])
        assert.isUndefined(body.result.isError)
      }
    }),
  )

  it.effect("X-30 S2-76 forbidden and unknown look alike, at listing and at calling, on both faces", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const [ann, cut] = [yield* tokenOf("ann"), yield* tokenOf("cut")]
      const list = (token: string) => ask(() => newRequest(`${url}/mcp`, token, "tools/list"))
      const call = (token: string, name: string) => ask(() => newRequest(`${url}/mcp`, token, "tools/call", { name }))
      assert.include(namesIn((yield* list(ann)).body), "motto")
      assert.notInclude(namesIn((yield* list(cut)).body), "motto")
      const [hidden, unknown] = [yield* call(cut, "motto"), yield* call(cut, "mottx")]
      assert.strictEqual(hidden.status, unknown.status)
      assert.deepStrictEqual(hidden.body.error, { code: -32602, message: "Unknown tool: motto" })
      assert.deepStrictEqual(unknown.body.error, { code: -32602, message: "Unknown tool: mottx" })
    }),
  )

  it.effect("X-43 bad arguments are a result the model can act on, with our error in it", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const token = yield* tokenOf("ann")
      const params = { name: "motto", arguments: { loud: "very" } }
      for (const answer of [
        yield* ask(() => newRequest(`${url}/mcp`, token, "tools/call", params)),
        yield* ask(() => oldRequest(`${url}/mcp`, token, "tools/call", params)),
      ]) {
        assert.strictEqual(answer.body.result.isError, true)
        const { error } = JSON.parse(answer.body.result.content[0].text) as {
          readonly error: { readonly tag: string; readonly message: string }
        }
        assert.strictEqual(error.tag, "ToolValidationError")
        assert.include(error.message, "loud")
      }
    }),
  )

  it.effect("X-16 a call that waits for a person says so at once; with tasks it is a task that a person finishes", () =>
    Effect.gen(function* () {
      const { admin, adminToken, url } = yield* Guest
      const token = yield* tokenOf("ann")
      const params = { name: "wipe", arguments: { folder: "logs" } }
      const waiting = yield* ask(() => newRequest(`${url}/mcp`, token, "tools/call", params))
      const { structuredContent } = waiting.body.result
      assert.deepStrictEqual(Object.keys(structuredContent), ["state", "call", "decision"])
      assert.strictEqual(structuredContent.state, "waiting")
      assert.deepStrictEqual(JSON.parse(waiting.body.result.content[0].text), structuredContent)
      assert.notInclude(JSON.stringify(waiting.body.result.content), nobodyMayAnswer.slice(0, 20))
      // The house's only admin: nobody else may answer, and the client is told.
      const alone = yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/call", params))
      assert.strictEqual(alone.body.result.structuredContent.state, "waiting")
      assert.include(JSON.stringify(alone.body.result.content), nobodyMayAnswer)

      // The same at call_status, and to a client that gets a task, when it is made and when it is read.
      const { call } = alone.body.result.structuredContent as { readonly call: string }
      const statusOf = (who: string, one: string) =>
        ask(() => newRequest(`${url}/mcp`, who, "tools/call", { name: "call_status", arguments: { call: one } }))
      assert.strictEqual((yield* statusOf(adminToken, call)).body.result.structuredContent.note, nobodyMayAnswer)
      assert.notProperty((yield* statusOf(token, structuredContent.call)).body.result.structuredContent, "note")

      const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } }
      const lone = yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/call", params, { capabilities }))
      assert.include(lone.body.result.statusMessage, nobodyMayAnswer)
      const { taskId: loneTask } = lone.body.result
      const read = yield* ask(() =>
        newRequest(`${url}/mcp`, adminToken, "tasks/get", { taskId: loneTask }, { capabilities }),
      )
      assert.include(read.body.result.statusMessage, nobodyMayAnswer)
      const made = yield* ask(() => newRequest(`${url}/mcp`, token, "tools/call", params, { capabilities }))
      const { resultType, status, taskId } = made.body.result
      assert.deepStrictEqual([resultType, status], ["task", "working"])
      const get = (who: string) => ask(() => newRequest(`${url}/mcp`, who, "tasks/get", { taskId }, { capabilities }))
      assert.strictEqual((yield* get(token)).body.result.status, "working")
      assert.strictEqual((yield* get(yield* tokenOf("ben"))).body.error.code, -32602)
      // Not through its own task: who asked does not approve.
      yield* ask(() =>
        newRequest(
          `${url}/mcp`,
          token,
          "tasks/update",
          { taskId, inputResponses: { approve: { action: "accept", content: { verdict: "approve" } } } },
          { capabilities },
        ),
      )
      assert.strictEqual((yield* get(token)).body.result.status, "working")
      const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
      const decision = items.find((one) => one.call?.id === taskId)!
      yield* ask(() => admin.decisions.answer(decision.id, { verdict: "approve" }))
      yield* ask(() => admin.calls.get(taskId as never, { wait: 10 }))
      const done = (yield* get(token)).body.result
      assert.deepStrictEqual([done.status, done.result.content[0].text], ["completed", "wiped"])
      const again = yield* ask(() => newRequest(`${url}/mcp`, token, "tasks/cancel", { taskId }, { capabilities }))
      assert.strictEqual(again.body.result.resultType, "complete")
    }),
  )

  it.effect("G-31 a list that changes is told to those whose list it is: a new tool, and a right that ends", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      const at = `${url}/mcp`
      const [ann, cut] = [yield* tokenOf("ann"), yield* tokenOf("cut")]
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" }
      const params = { notifications: { toolsListChanged: true }, _meta: envelope() }
      const [anns, cuts] = [
        yield* ask(() => opened(at, ann, undefined, "subscriptions/listen", params, headers)),
        yield* ask(() => opened(at, cut, undefined, "subscriptions/listen", params, headers)),
      ]
      for (const stream of [anns, cuts]) yield* ask(() => stream.next())
      // Only ann loses something: the first thing cut hears is of the tool that comes after it.
      yield* ask(() =>
        admin.grants.add({
          principal: "ann",
          effect: "deny",
          actions: ["execute"],
          resource: "tools/wipe",
        }),
      )
      assert.strictEqual((yield* ask(() => anns.next())).data?.["method"], "notifications/tools/list_changed")
      const listed = yield* ask(() => newRequest(at, ann, "tools/list"))
      assert.notInclude(namesIn(listed.body), "wipe")
      yield* ask(() =>
        admin.tools.add({
          name: "newcomer",
          description: "New",
          inputSchema: { type: "object" },
          executionType: "internal",
          execution: { output: 1 },
        }),
      )
      assert.strictEqual((yield* ask(() => cuts.next())).data?.["method"], "notifications/tools/list_changed")
      assert.include(namesIn((yield* ask(() => newRequest(at, cut, "tools/list"))).body), "newcomer")
      for (const stream of [anns, cuts]) yield* ask(() => stream.close())
    }),
  )

  for (const [era, make] of [
    ["sdk 1.32", () => ({ client: new OldClient(about), Transport: OldTransport })],
    ["client 2.4", () => ({ client: new NewClient(about), Transport: NewTransport })],
    [
      "client 2.4 without a handshake",
      () => ({ client: new NewClient(about, { versionNegotiation: { mode: "auto" } }), Transport: NewTransport }),
    ],
  ] as const)
    it.effect(`S3-03 S3-04 the official ${era} lists and calls, two agents at once, each as itself`, () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const run = (token: string) => async () => {
          const { client, Transport } = make()
          const requestInit = { headers: { authorization: `Bearer ${token}` } }
          await client.connect(new Transport(new URL("/mcp", url), { requestInit }))
          const { tools } = await client.listTools()
          const forged = { name: "whoami", arguments: {}, _meta: { "stoa/principal": "admin" } }
          const [motto, me] = await Promise.all([
            client.callTool({ name: "motto", arguments: {} }),
            client.callTool(forged),
          ])
          await client.close()
          return { names: tools.map((one) => one.name), motto: motto.structuredContent, me: JSON.stringify(me) }
        }
        const [ann, ben] = yield* Effect.all([ask(run(yield* tokenOf("ann"))), ask(run(yield* tokenOf("ben")))], {
          concurrency: "unbounded",
        })
        for (const [name, seen, other] of [
          ["ann", ann, "ben"],
          ["ben", ben, "ann"],
        ] as const) {
          assert.include(seen.names, "motto")
          assert.deepStrictEqual(seen.motto, { motto: "festina lente" })
          assert.include(seen.me, name)
          assert.notInclude(seen.me, other)
        }
      }),
    )
})

const tokenOf = (principal: string) =>
  Effect.gen(function* () {
    const { admin } = yield* Guest
    return (yield* ask(() => admin.tokens.add({ principal }))).token
  })
