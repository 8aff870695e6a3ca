/** Every message we send, of every kind and revision, against the official schemas; and the rules of the transport. */
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MCPDoor } from "../../src/doors/mcp/MCPDoor.ts"
import { png, wav } from "../conformance/fixture.ts"
import { withFixtures } from "../conformance/toolset.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { until } from "../stores.ts"
import { type Answer, envelope, initialized, newRequest, oldRequest, post } from "./mcpKit.ts"
import { answerFault } from "./mcpSchemas.ts"

const Test = house({
  store: "sqlite",
  config: {
    agents: [{ name: "ann" }, { name: "ben" }, { name: "cal" }],
    limits: [{ principal: "cal", resource: "http", count: 50, seconds: 3600 }, ...roomy.limits],
  },
}).pipe(Layer.provide(withFixtures))
const K = "io.modelcontextprotocol/"

const everything: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
  ["tools/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["prompts/list", {}],
  ["resources/read", { uri: "test://static-text" }],
  ["resources/read", { uri: "test://static-binary" }],
  ["resources/read", { uri: "test://nowhere" }],
  ["prompts/get", { name: "test_prompt_with_embedded_resource", arguments: { resourceUri: "test://x" } }],
  ["prompts/get", { name: "nowhere" }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "pa" } }],
  ["completion/complete", {}],
  ["tools/call", { name: "test_simple_text" }],
  ["tools/call", { name: "test_multiple_content_types" }],
  ["tools/call", { name: "test_audio_content" }],
  ["tools/call", { name: "test_error_handling" }],
  ["tools/call", { name: "nowhere" }],
  ["tools/call", {}],
  ["tools/call", { name: "test_simple_text", arguments: [] }],
  ["tools/call", { name: "test_missing_capability" }],
  ["tools/call", { name: "test_input_required_result_request_state" }],
  ["no/such/method", {}],
]

const endpoint = Effect.map(Guest, ({ url }) => `${url}/mcp/conformance`)
const tokenOf = (principal: string) =>
  Effect.gen(function* () {
    const { admin } = yield* Guest
    return (yield* ask(() => admin.tokens.add({ principal }))).token
  })

const Open = house({
  store: "sqlite",
  config: { ...roomy, agents: [{ name: "ann", wallet: "0xann" }] },
  env: { STOA_ANONYMOUS: "ann" },
})
layer(Open, { timeout: 60_000, excludeTestServices: true })("mcp without a token", (it) => {
  it.effect("X-59 with STOA_ANONYMOUS both addresses act as that principal", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const who = yield* ask(() => oldRequest(`${url}/mcp`, undefined, "tools/call", { name: "whoami" }))
      assert.include(JSON.stringify(who.body.result), "ann")
      // As that principal, and not as nobody: what it may use there is listed, and can be called.
      const seed = `${url}/mcp/jsonrpc`
      const listed = yield* ask(() => oldRequest(seed, undefined, "tools/list"))
      assert.strictEqual(listed.status, 200)
      assert.include(JSON.stringify(listed.body.result.tools), '"engram_create"')
      const call = { name: "engram_search", arguments: {} }
      const called = yield* ask(() => oldRequest(seed, undefined, "tools/call", call))
      assert.strictEqual(
        called.body.result.structuredContent?.count ?? JSON.parse(called.body.result.content[0].text).count,
        0,
      )
      assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp`, "stoa_wrong", "tools/list"))).status, 401)
      assert.strictEqual((yield* ask(() => oldRequest(seed, "stoa_wrong", "tools/list"))).status, 401)
    }),
  )
})

layer(Test, { timeout: 60_000, excludeTestServices: true })("mcp on the wire", (it) => {
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    it.effect(`X-39 every answer of ${revision} is what its schema says`, () =>
      Effect.gen(function* () {
        const url = yield* endpoint
        const token = yield* tokenOf("ann")
        const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "t", version: "1" } }
        const hello = yield* ask(() => oldRequest(url, token, "initialize", params))
        assert.isUndefined(answerFault(revision, "initialize", hello.body))
        const session = hello.headers.get("mcp-session-id")!
        for (const [method, given] of [
          ...everything,
          ["ping", {}],
          ["logging/setLevel", { level: "debug" }],
        ] as const) {
          const { body, status } = yield* ask(() => oldRequest(url, token, method, given, session))
          assert.strictEqual(status, 200, method)
          assert.isUndefined(answerFault(revision, method, body), `${method} ${JSON.stringify(body)}`)
        }
      }),
    )

  it.effect("X-39 every answer of 2026-07-28 is what its schema says, with the status the fault has", () =>
    Effect.gen(function* () {
      const url = yield* endpoint
      const token = yield* tokenOf("ann")
      const capabilities = { elicitation: {} }
      for (const [method, given] of [...everything, ["server/discover", {}], ["ping", {}]] as const) {
        const { body, headers, status } = yield* ask(() => newRequest(url, token, method, given, { capabilities }))
        assert.isUndefined(answerFault("2026-07-28", method, body), `${method} ${JSON.stringify(body)}`)
        assert.strictEqual(headers.get("content-type"), "application/json")
        assert.isNull(headers.get("mcp-session-id"))
        const code = (body as { readonly error?: { readonly code: number } }).error?.code
        assert.strictEqual(status, code === -32601 ? 404 : code === -32021 ? 400 : 200, `${method} ${code}`)
        if (code === undefined && body.result.resultType !== "input_required")
          assert.strictEqual(body.result._meta[`${K}serverInfo`].name, "stoa")
      }
    }),
  )

  it.effect("identity is the token of each request: no token 401, a dead one 401, another's session 404", () =>
    Effect.gen(function* () {
      const { admin, url } = yield* Guest
      const at = yield* endpoint
      const refused = yield* ask(() => oldRequest(`${url}/mcp`, undefined, "ping"))
      assert.strictEqual(refused.status, 401)
      assert.strictEqual(refused.headers.get("www-authenticate"), "Bearer")
      assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
      const wrong = yield* ask(() => oldRequest(`${url}/mcp`, "stoa_wrong", "ping"))
      assert.strictEqual(wrong.status, 401)
      assert.strictEqual(wrong.headers.get("www-authenticate"), 'Bearer error="invalid_token"')
      const none = yield* ask(() => fetch(new URL("/.well-known/oauth-protected-resource", url)))
      assert.strictEqual(none.status, 404)
      const ann = yield* ask(() => admin.tokens.add({ principal: "ann" }))
      const session = yield* ask(() => initialized(at, ann.token))
      assert.strictEqual((yield* ask(() => oldRequest(at, ann.token, "ping", {}, session))).status, 200)
      assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp`, ann.token, "ping", {}, session))).status, 404)
      const bens = yield* tokenOf("ben")
      assert.strictEqual((yield* ask(() => oldRequest(at, bens, "ping", {}, session))).status, 404)
      yield* ask(() => admin.tokens.revoke(ann.id))
      assert.strictEqual((yield* ask(() => oldRequest(at, ann.token, "ping", {}, session))).status, 401)
    }),
  )

  it.effect("X-59 S2-70 seed 002's address: nobody sees nothing and calls nothing; a token is that principal", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const at = `${url}/mcp/jsonrpc`
      const token = yield* tokenOf("ann")
      const listed = yield* ask(() => oldRequest(at, undefined, "tools/list"))
      assert.strictEqual(listed.status, 200)
      assert.deepStrictEqual(listed.body.result.tools, [])
      const called = yield* ask(() => oldRequest(at, undefined, "tools/call", { name: "engram_create" }))
      assert.strictEqual(called.body.error.code, -32602)
      assert.strictEqual((yield* ask(() => oldRequest(at, token, "tools/list"))).status, 200)
      assert.strictEqual((yield* ask(() => oldRequest(at, "stoa_wrong", "tools/list"))).status, 401)
      assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp`, undefined, "tools/list"))).status, 401)
    }),
  )

  it.effect("S2-73 seed 002's address also begins, answers a ping, and lists resources and prompts: none", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const token = yield* tokenOf("ann")
      const result = (method: string, params: object = {}) =>
        Effect.map(
          ask(() => post(`${url}/mcp/jsonrpc`, token, { jsonrpc: "2.0", id: 1, method, params })),
          ({ body, status }) => [status, body.result] as const,
        )
      const [status, begun] = yield* result("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "x", version: "1" },
      })
      assert.deepStrictEqual([status, begun.protocolVersion, begun.serverInfo.name], [200, "2025-06-18", "stoa"])
      assert.property(begun.capabilities, "tools")
      assert.deepStrictEqual(yield* result("ping"), [200, {}])
      assert.deepStrictEqual(yield* result("resources/list"), [200, { resources: [] }])
      assert.deepStrictEqual(yield* result("prompts/list"), [200, { prompts: [] }])
    }),
  )

  it.effect("S2-73 S2-74 S2-76 S3-77 faults have their code, notifications no body", () =>
    Effect.gen(function* () {
      const url = yield* endpoint
      const token = yield* tokenOf("ann")
      const send = (body: unknown, headers = {}) => ask(() => post(url, token, body, headers))
      const rows: ReadonlyArray<readonly [unknown, number, number | undefined]> = [
        ["{", 400, -32700],
        [{ jsonrpc: "1.0", id: 1, method: "ping" }, 400, -32600],
        [{ jsonrpc: "2.0", id: 1, method: "nowhere" }, 200, -32601],
        // Without its prefix it is no method; nor is it one as a request.
        [{ jsonrpc: "2.0", id: 1, method: "initialized" }, 200, -32601],
        [{ jsonrpc: "2.0", id: 1, method: "notifications/initialized" }, 200, -32601],
        [{ jsonrpc: "2.0", id: 1, method: "tools/call" }, 200, -32602],
        [{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "nowhere" } }, 200, -32602],
        [{ jsonrpc: "2.0", method: "notifications/initialized" }, 202, undefined],
        [{ jsonrpc: "2.0", method: "notifications/whatever" }, 202, undefined],
      ]
      for (const [body, status, code] of rows) {
        const answer = yield* send(body)
        assert.strictEqual(answer.status, status, JSON.stringify(body))
        if (code === undefined) assert.strictEqual(answer.text, "")
        else assert.strictEqual(answer.body.error.code, code)
      }
      assert.notProperty((yield* send("{")).body, "id")
      const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "notifications/initialized" }
      const unanswered = yield* send({ jsonrpc: "2.0", method: "notifications/initialized" }, modern)
      assert.deepStrictEqual([unanswered.status, unanswered.text], [202, ""])
      const nowhere = yield* ask(() => newRequest(url, token, "nowhere"))
      assert.deepStrictEqual([nowhere.status, nowhere.body.error.code], [404, -32601])
    }),
  )

  it.effect("the transport: sizes, types, methods, foreign names", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const at = yield* endpoint
      const token = yield* tokenOf("ann")
      const large = yield* ask(() => post(at, token, `"${"x".repeat(4 * 1024 * 1024)}"`))
      assert.strictEqual(large.status, 413)
      const typed = yield* ask(() => post(at, token, "{}", { "content-type": "text/plain" }))
      assert.strictEqual(typed.status, 415)
      const bearer = { authorization: `Bearer ${token}` }
      const put = yield* ask(() => fetch(at, { method: "PUT", headers: bearer }))
      assert.strictEqual(put.status, 405)
      assert.include(put.headers.get("allow"), "POST")
      const foreign = yield* ask(() => post(at, token, "{}", { origin: "http://evil.example" }))
      assert.strictEqual(foreign.status, 403)
      assert.strictEqual((yield* ask(() => oldRequest(`${url}/mcp/%ff`, token, "ping"))).status, 400)
      for (const path of ["/mcp/nowhere", "/mcp/servers/nowhere", "/mcp/a/b"])
        assert.strictEqual((yield* ask(() => oldRequest(`${url}${path}`, token, "ping"))).status, 404, path)
      assert.strictEqual((yield* ask(() => fetch(at, { headers: bearer }))).status, 405)
      const session = yield* ask(() => initialized(at, token))
      const json = { ...bearer, "mcp-session-id": session, accept: "application/json" }
      assert.strictEqual((yield* ask(() => fetch(at, { headers: json }))).status, 406)
    }),
  )

  it.effect("a large body is read from those the house knows, and from nobody else", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const token = yield* tokenOf("ann")
      /** Says that a large body comes, and sends none of it. */
      const announced = (path: string, authorization: string) =>
        Effect.callback<string>((resume) => {
          const { host, port } = new URL(url)
          const socket = connect(Number(port), "127.0.0.1")
          const head = [`POST ${path} HTTP/1.1`, `Host: ${host}`, "Content-Type: application/json"]
          const length = ["Content-Length: 4000000", "Accept: application/json, text/event-stream"]
          socket.write([...head, ...length, ...(authorization === "" ? [] : [authorization]), "", ""].join("\r\n"))
          socket.once("data", (answer) => {
            socket.destroy()
            resume(Effect.succeed(answer.toString("latin1").slice(9, 12)))
          })
          return Effect.sync(() => socket.destroy())
        })
      assert.strictEqual(yield* announced("/mcp", ""), "401")
      assert.strictEqual(yield* announced("/mcp", "Authorization: Bearer stoa_wrong"), "401")
      assert.strictEqual(yield* announced("/mcp/jsonrpc", ""), "413")
      const text = "x".repeat(100_000)
      const echoed = yield* ask(() => oldRequest(`${url}/mcp`, token, "tools/call", { name: "whoami", text }))
      assert.include(JSON.stringify(echoed.body.result), "ann")
    }),
  )

  it.effect("a batch is answered where the revision has batches, and refused elsewhere", () =>
    Effect.gen(function* () {
      const url = yield* endpoint
      const token = yield* tokenOf("ann")
      const messages = [
        { jsonrpc: "2.0", id: 1, method: "ping" },
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: "two", method: "tools/call", params: { name: "test_simple_text" } },
        { jsonrpc: "2.0", id: 3, method: "nowhere" },
        { jsonrpc: "2.0", id: 4, method: "initialize", params: {} },
      ]
      const send = (body: unknown, headers: Record<string, string> = {}) => ask(() => post(url, token, body, headers))
      const { body } = yield* send(messages)
      assert.deepStrictEqual(
        body.map((one: { readonly id: unknown; readonly error?: { readonly code: number } }) => [
          one.id,
          one.error?.code,
        ]),
        [
          [1, undefined],
          ["two", undefined],
          [3, -32601],
          [4, -32600],
        ],
      )
      assert.strictEqual((yield* send([messages[1]])).status, 202)
      for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
        const session = yield* ask(() => initialized(url, token, {}, version))
        const answer = yield* send(messages, { "mcp-session-id": session })
        assert.strictEqual(answer.status, version <= "2025-03-26" ? 200 : 400, version)
      }
      const now = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: envelope() } }
      assert.strictEqual((yield* send([now], { "mcp-protocol-version": "2026-07-28" })).status, 400)
    }),
  )

  it.effect("each message of a batch counts as a request, and all its answers together are bounded", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const token = yield* tokenOf("ben")
      const lists = (count: number) =>
        Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }))
      const sent = yield* ask(() => post(`${url}/mcp`, token, lists(100)))
      const text = JSON.stringify(sent.body)
      const one = JSON.stringify(sent.body[0])
      assert.isAbove(one.length * 100, 1024 * 1024, "the batch asks for more than may be answered")
      assert.isBelow(text.length, 1024 * 1024 + one.length + 100 * 200)
      const faults = sent.body.flatMap(({ error }: { readonly error?: { readonly message: string } }) => error ?? [])
      assert.isAbove(faults.length, 0)
      assert.match(faults[0].message, /send this message again, alone/)
      assert.strictEqual(sent.body.length, 100)

      const few = yield* tokenOf("cal")
      const status = (count: number) =>
        Effect.map(
          ask(() => post(`${url}/mcp`, few, lists(count))),
          (it) => it.status,
        )
      assert.deepStrictEqual([yield* status(40), yield* status(40), yield* status(5)], [200, 429, 200])
    }),
  )

  it.effect("what a tool gave arrives to the letter, in both eras", () =>
    Effect.gen(function* () {
      const url = yield* endpoint
      const token = yield* tokenOf("ann")
      const text = (words: string) => ({ type: "text", text: words })
      const image = { type: "image", data: png, mimeType: "image/png" }
      const resource = (uri: string, mimeType: string, words: string) => ({
        type: "resource",
        resource: { uri, mimeType, text: words },
      })
      const rows: ReadonlyArray<readonly [string, object, ReadonlyArray<object>]> = [
        ["test_simple_text", {}, [text("This is a simple text response for testing.")]],
        ["test_image_content", {}, [image]],
        ["test_audio_content", {}, [{ type: "audio", data: wav, mimeType: "audio/wav" }]],
        [
          "test_embedded_resource",
          {},
          [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
        ],
        [
          "test_multiple_content_types",
          {},
          [
            text("Multiple content types test:"),
            image,
            resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
          ],
        ],
        ["test_error_handling", {}, [text("This tool intentionally returns an error for testing")]],
        ["greet", { name: "Ann" }, [text("Hello, Ann!")]],
      ]
      for (const [name, given, content] of rows) {
        const params = { name, arguments: given }
        const old = yield* ask(() => oldRequest(url, token, "tools/call", params))
        const now = yield* ask(() => newRequest(url, token, "tools/call", params))
        for (const { body } of [old, now]) {
          assert.deepStrictEqual(body.result.content, content, name)
          assert.strictEqual(body.result.isError, name === "test_error_handling" ? true : undefined)
        }
      }
      const missing = yield* ask(() => newRequest(url, token, "resources/read", { uri: "test://nowhere" }))
      assert.deepStrictEqual([missing.body.error.code, missing.body.error.data], [-32602, { uri: "test://nowhere" }])
      const before = yield* ask(() => oldRequest(url, token, "resources/read", { uri: "test://nowhere" }))
      assert.strictEqual(before.body.error.code, -32002)
      // The check itself bites.
      assert.isDefined(answerFault("2026-07-28", "tools/list", { jsonrpc: "2.0", id: 1, result: { tools: [] } }))
      const listed = (tool: object) => ({ jsonrpc: "2.0", id: 1, result: { tools: [tool] } })
      const tool = { name: "t", inputSchema: { type: "object" } }
      assert.isUndefined(answerFault("2024-11-05", "tools/list", listed(tool)))
      assert.isDefined(answerFault("2024-11-05", "tools/list", listed({ ...tool, annotations: {} })))
      const sound = { type: "audio", data: "", mimeType: "audio/wav" }
      const heard = { jsonrpc: "2.0", id: 1, result: { content: [sound] } }
      assert.isUndefined(answerFault("2025-03-26", "tools/call", heard))
      assert.isDefined(answerFault("2024-11-05", "tools/call", heard))
    }),
  )

  it.effect("bound state: another caller's, another request's and a used one are refused", () =>
    Effect.gen(function* () {
      const url = yield* endpoint
      const [ann, ben] = [yield* tokenOf("ann"), yield* tokenOf("ben")]
      const name = "test_input_required_result_request_state"
      const capabilities = { elicitation: {} }
      const call = (token: string, params: object): Effect.Effect<Answer> =>
        ask(() => newRequest(url, token, "tools/call", { name, ...params }, { capabilities }))
      const first = yield* call(ann, {})
      const { requestState } = first.body.result
      const inputResponses = { confirm: { action: "accept", content: { ok: true } } }
      for (const [token, params] of [
        [ben, { requestState, inputResponses }],
        [ann, { requestState, inputResponses, arguments: { other: 1 } }],
        [ann, { requestState: `${requestState}x`, inputResponses }],
        [ann, { requestState: 7, inputResponses }],
      ] as const)
        assert.strictEqual((yield* call(token, params)).body.error.code, -32602)
      const second = yield* call(ann, { requestState, inputResponses })
      assert.strictEqual(second.body.result.content[0].text, "state-ok")
      assert.strictEqual((yield* call(ann, { requestState, inputResponses })).body.error.code, -32602)
    }),
  )

  it.effect("sessions opened and forgotten are a thousand small ones at most", () =>
    Effect.gen(function* () {
      const url = yield* endpoint
      const token = yield* tokenOf("ann")
      const door = yield* MCPDoor
      yield* ask(async () => {
        const opening = async () => {
          for (let n = 0; n < 150; n++) await initialized(url, token)
        }
        await Promise.all(Array.from({ length: 8 }, opening))
      })
      assert.isAbove(door.sessions(), 900)
      assert.isAtMost(door.sessions(), 1000)
      // The last of them may still be on their way out.
      yield* until(Effect.sync(() => door.waiting() === 0))
    }),
  )
})
