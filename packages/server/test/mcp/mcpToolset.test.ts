/**
 * A toolset that speaks MCP, brought into a house: each call of it walks the one road and is a row like any other, what it
 * asks is a decision, and what it gives, tells and has beside tools reaches clients of both eras to the letter.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ExtraToolsets, type Toolset } from "../../src/toolsets/Toolsets.ts"
import { type Line, nothing, object, png, quick, say, text, tool } from "../conformance/fixture.ts"
import { conformance } from "../conformance/toolset.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { initialized, newRequest, oldRequest } from "./mcpKit.ts"
import { answerFault } from "./mcpSchemas.ts"

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
const place = object({ city: { type: "string" }, degrees: { type: "number" } }, "city", "degrees")
const weather = { city: "Athens", degrees: 31.5 }
const shout = (_: unknown, line: Line) => {
  for (const level of levels) line.log(`at ${level}`, level)
  return say("shouted")
}

const studio: Toolset = {
  name: "studio",
  tools: [
    quick("weather", nothing, () => ({ content: [text("Hot")], structuredContent: weather }), place),
    quick("liar", nothing, () => ({ content: [text("Hot")], structuredContent: { city: 7 } }), place),
    quick("shout", nothing, shout),
    tool("shout_outside", nothing, shout),
    tool("secretive", object({ word: { type: "string" } }, "word"), () => say("nothing")),
  ],
}
const Brought = Layer.succeed(ExtraToolsets, [conformance, Effect.succeed(studio)])
const config = {
  ...roomy,
  agents: [{ name: "ann" }, { name: "cut" }],
  policies: [{ principal: "cut", effect: "deny", actions: ["execute"], resource: "tools/weather" }],
}
const Test = house({ store: "sqlite", config }).pipe(Layer.provide(Brought))

const tokenOf = (principal: string) =>
  Effect.gen(function* () {
    const { admin } = yield* Guest
    return (yield* ask(() => admin.tokens.add({ principal }))).token
  })
const at = (toolset: string) => Effect.map(Guest, ({ url }) => `${url}/mcp/${toolset}`)
const namesIn = (body: { readonly result: { readonly tools: ReadonlyArray<{ readonly name: string }> } }) =>
  body.result.tools.map(({ name }) => name)

layer(Test, { timeout: 60_000, excludeTestServices: true })("a toolset that speaks MCP", (it) => {
  it.effect("X-43 each call is a row: what it gave, that it failed, and that it was refused", () =>
    Effect.gen(function* () {
      const { as } = yield* Guest
      const token = yield* tokenOf("ann")
      const mine = as(token)
      const url = yield* at("conformance")
      const call = (name: string, given = {}) =>
        ask(() => newRequest(url, token, "tools/call", { name, arguments: given }))
      yield* call("test_image_content")
      yield* call("test_error_handling")
      const bad = yield* call("greet", { name: 7 })
      assert.strictEqual(bad.body.result.isError, true)
      assert.strictEqual(bad.body.result.structuredContent.error.tag, "ToolValidationError")
      const { items } = yield* ask(() => mine.calls.list({}))
      assert.deepStrictEqual(
        items.map(({ state, tool }) => [tool, state]),
        [
          ["test_image_content", "done"],
          ["test_error_handling", "failed"],
          ["greet", "refused"],
        ],
      )
      assert.deepStrictEqual(items[0]!.output, { content: [{ type: "image", data: png, mimeType: "image/png" }] })
      assert.include(items[1]!.error!.message, "intentionally returns an error")
      // The same tool over HTTP, where there is no client to ask: the road is the same.
      const greeted = yield* ask(() => mine.tools.call("greet", { input: { name: "Ann" } }))
      assert.deepNestedInclude(greeted, { output: { content: [{ type: "text", text: "Hello, Ann!" }] } })
    }),
  )

  it.effect("S2-05 X-53 an allow list and a grant hide a tool of it, at listing and at calling", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const url = yield* at("studio")
      const [ann, cut] = [yield* tokenOf("ann"), yield* tokenOf("cut")]
      const list = (token: string) =>
        Effect.map(
          ask(() => newRequest(url, token, "tools/list")),
          ({ body }) => namesIn(body),
        )
      const code = (token: string, name: string) =>
        Effect.map(
          ask(() => newRequest(url, token, "tools/call", { name })),
          ({ body }) => (body as { readonly error?: { readonly code: number } }).error?.code,
        )
      assert.deepStrictEqual(yield* list(ann), ["weather", "liar", "shout", "shout_outside", "secretive"])
      assert.notInclude(yield* list(cut), "weather")
      assert.strictEqual(yield* code(cut, "weather"), -32602)
      yield* ask(() => admin.allowLists.set("configured", "agent", { tools: ["shout"] }))
      assert.deepStrictEqual(yield* list(ann), ["shout"])
      assert.strictEqual(yield* code(ann, "weather"), -32602)
      yield* ask(() => admin.allowLists.set("configured", "agent", { tools: ["*"] }))
      assert.isUndefined(yield* code(ann, "weather"))
    }),
  )

  it.effect(
    "structured content comes as its schema says, where the client knows it; what does not fit is a failure",
    () =>
      Effect.gen(function* () {
        const url = yield* at("studio")
        const token = yield* tokenOf("ann")
        const now = yield* ask(() => newRequest(url, token, "tools/call", { name: "weather" }))
        assert.deepStrictEqual([now.body.result.content, now.body.result.structuredContent], [[text("Hot")], weather])
        for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
          const session = yield* ask(() => initialized(url, token, {}, revision))
          const { body } = yield* ask(() => oldRequest(url, token, "tools/call", { name: "weather" }, session))
          assert.isUndefined(answerFault(revision, "tools/call", body))
          const { content, structuredContent } = body.result
          assert.deepStrictEqual(
            [content, structuredContent],
            [[text("Hot")], revision < "2025-06-18" ? undefined : weather],
            revision,
          )
          const listed = yield* ask(() => oldRequest(url, token, "tools/list", {}, session))
          assert.deepStrictEqual(
            listed.body.result.tools.find((one: { readonly name: string }) => one.name === "weather").outputSchema,
            revision < "2025-06-18" ? undefined : place,
          )
        }
        const liar = yield* ask(() => newRequest(url, token, "tools/call", { name: "liar" }))
        assert.strictEqual(liar.body.result.isError, true)
        assert.include(liar.body.result.content[0].text, "not what its output schema says")
      }),
  )

  it.effect(
    "a log is told from the level that was asked for, in both eras, whether the call changes something or not",
    () =>
      Effect.gen(function* () {
        const url = yield* at("conformance")
        const own = yield* at("studio")
        const token = yield* tokenOf("ann")
        const told = (answer: string) =>
          [...answer.matchAll(/"notifications\/message","params":(\{[^}]*\})/g)].map((found) => JSON.parse(found[1]!))
        for (const [from, level] of levels.entries())
          for (const name of ["shout", "shout_outside"]) {
            const meta = { "io.modelcontextprotocol/logLevel": level }
            const { text: heard } = yield* ask(() => newRequest(own, token, "tools/call", { name }, { meta }))
            assert.deepStrictEqual(
              told(heard),
              levels.slice(from).map((one) => ({ level: one, data: `at ${one}` })),
            )
          }
        const session = yield* ask(() => initialized(url, token))
        yield* ask(() => oldRequest(url, token, "logging/setLevel", { level: "info" }, session))
        const old = yield* ask(() => oldRequest(url, token, "tools/call", { name: "test_tool_with_logging" }, session))
        assert.deepStrictEqual(
          told(old.text).map(({ data }) => data as string),
          ["Tool execution started", "Tool processing data", "Tool execution completed"],
        )
        yield* ask(() => oldRequest(url, token, "logging/setLevel", { level: "notice" }, session))
        const less = yield* ask(() => oldRequest(url, token, "tools/call", { name: "test_tool_with_logging" }, session))
        assert.deepStrictEqual(told(less.text), [])
      }),
  )

  it.effect("prompts, resources, templates and completion arrive to the letter, in both eras", () =>
    Effect.gen(function* () {
      const url = yield* at("conformance")
      const token = yield* tokenOf("ann")
      const user = (content: object) => ({ role: "user", content })
      const image = { type: "image", data: png, mimeType: "image/png" }
      const embedded = { uri: "test://x", mimeType: "text/plain", text: "Embedded resource content for testing." }
      const rows: ReadonlyArray<readonly [string, Record<string, unknown>, string, unknown]> = [
        [
          "prompts/get",
          { name: "test_prompt_with_arguments", arguments: { arg1: "one", arg2: "it's two" } },
          "messages",
          [user(text("Prompt with arguments: arg1='one', arg2='it's two'"))],
        ],
        [
          "prompts/get",
          { name: "test_prompt_with_embedded_resource", arguments: { resourceUri: "test://x" } },
          "messages",
          [user({ type: "resource", resource: embedded }), user(text("Please process the embedded resource above."))],
        ],
        [
          "prompts/get",
          { name: "test_prompt_with_image" },
          "messages",
          [user(image), user(text("Please analyze the image above."))],
        ],
        [
          "resources/read",
          { uri: "test://static-binary" },
          "contents",
          [{ uri: "test://static-binary", mimeType: "image/png", blob: png }],
        ],
        [
          "resources/read",
          { uri: "test://template/7/data" },
          "contents",
          [
            {
              uri: "test://template/7/data",
              mimeType: "application/json",
              text: '{"id":"7","templateTest":true,"data":"Data for ID: 7"}',
            },
          ],
        ],
        [
          "completion/complete",
          { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "pa" } },
          "completion",
          { values: ["paris", "park", "party"], total: 3, hasMore: false },
        ],
      ]
      for (const [method, params, key, expected] of rows) {
        const old = yield* ask(() => oldRequest(url, token, method, params))
        const now = yield* ask(() => newRequest(url, token, method, params))
        for (const { body } of [old, now]) assert.deepStrictEqual(body.result[key], expected, method)
      }
    }),
  )

  it.effect("what it asks is a decision: a person answers for a client that cannot be asked, and it goes on", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const url = yield* at("conformance")
      const token = yield* tokenOf("ann")
      const params = { name: "test_elicitation", arguments: { message: "Who?" } }
      const first = yield* ask(() => newRequest(url, token, "tools/call", params))
      const { call, decision, state } = first.body.result.structuredContent
      assert.strictEqual(state, "waiting")
      const value = { username: "pam", email: "pam@example.org" }
      const asked = yield* ask(() => admin.decisions.get(decision))
      assert.deepStrictEqual(
        [asked.kind, asked.question, asked.call?.tool],
        ["elicitation", "Who?", "test_elicitation"],
      )
      yield* ask(() => admin.decisions.answer(decision, { verdict: "submit", value }))
      const done = yield* ask(() => admin.calls.get(call, { wait: 20 }))
      const words = `User response: action=accept, content=${JSON.stringify(value)}`
      assert.deepStrictEqual(done.output, { content: [{ type: "text", text: words }] })
    }),
  )

  it.effect("its address is its own name; whoever has everything has it too", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const token = yield* tokenOf("ann")
      assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp/brought:studio`, token, "ping"))).status, 404)
      assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp/other`, token, "ping"))).status, 404)
      const all = yield* ask(() => newRequest(`${url}/mcp`, token, "tools/list"))
      assert.include(namesIn(all.body), "weather")
    }),
  )
})

layer(house({ store: "sqlite", config }), { timeout: 60_000, excludeTestServices: true })("any other house", (it) => {
  it.effect("has neither the endpoint nor the tools", () =>
    Effect.gen(function* () {
      const { adminToken, url } = yield* Guest
      for (const name of ["studio", "conformance", "brought:studio"])
        assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp/${name}`, adminToken, "ping"))).status, 404)
      const all = yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/list"))
      assert.notInclude(namesIn(all.body), "weather")
    }),
  )
})
