/** Servers that say what the protocol does not have: it costs them their own malformed items, and nobody else anything. */
import type { ServerResponse } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { ask, house, roomy } from "../house.ts"
import { joined, newClient, oldClient, until } from "./proxiedKit.ts"
import { made, served, taskIs, text } from "./proxiedServer.ts"
import { newRequest, oldRequest } from "../mcp/mcpKit.ts"

const config = { ...roomy, agents: [{ name: "ada" }] }
const eras = ["old", "new"] as const
const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} }

const lists = {
  "tools/list": {
    tools: [
      { name: "fine", description: "is fine", inputSchema: { type: "object" } },
      {
        name: "odd",
        description: 5,
        title: 7,
        inputSchema: { type: "object", properties: { a: true } },
        outputSchema: "none",
        icons: [{ src: 5 }],
        annotations: { readOnlyHint: "yes" },
        execution: 3,
        _meta: "x",
      },
      { name: "unreadable", inputSchema: { type: "object", required: "a" } },
      { name: 5, inputSchema: { type: "object" } },
    ],
  },
  "resources/list": {
    resources: [
      5,
      { uri: 5 },
      { name: "no" },
      { uri: "mem://2", name: 5 },
      { uri: "mem://ok", name: "ok", icons: [{ src: "https://icons.example/a.png" }] },
      {
        uri: "mem://3",
        name: "x",
        size: "big",
        annotations: { priority: 5 },
        mimeType: 6,
        title: 7,
        icons: [{ src: 5 }],
        _meta: 5,
      },
      { uri: "mem://4", name: "half a byte", size: 0.5 },
    ],
  },
  "resources/templates/list": {
    resourceTemplates: [{ uriTemplate: 5 }, { name: "x" }, { uriTemplate: "a://{x}", name: "ok", description: 5 }],
  },
  "prompts/list": {
    prompts: [{ name: 5 }, {}, { name: "p", arguments: "x" }, { name: "q", arguments: [{ name: 5 }], title: "Q" }],
  },
}

const answers: Readonly<Record<string, (params: { readonly name?: string; readonly uri?: string }) => object>> = {
  "resources/read": ({ uri }) => ({
    contents: [uri === "mem://ok" ? { uri: 5 } : uri === "mem://3" ? { uri: "mem://3" } : { uri: uri!, text: "read" }],
  }),
  "prompts/get": ({ name }) => ({
    messages: name === "p" ? "x" : [{ role: "user", content: { type: "hologram" } }],
  }),
  "completion/complete": () => ({ completion: { values: [5, "five", null], total: "many", hasMore: false } }),
}

/** A server of an era that is wrong wherever it can be. */
const poison = (era: "old" | "new") =>
  served(
    era,
    { fine: () => text("fine"), odd: () => text("odd") },
    {
      initialize: () => ({
        protocolVersion: "2025-11-25",
        capabilities,
        serverInfo: { name: "poison", version: "1" },
      }),
      "server/discover": () => ({
        supportedVersions: ["2026-07-28"],
        capabilities,
        ttlMs: 0,
        cacheScope: "private",
      }),
      ...Object.fromEntries(
        Object.entries(lists).map(([method, list]) => [
          method,
          () => ({ ...list, ...(era === "new" ? { ttlMs: 0, cacheScope: "private" } : {}) }),
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(answers).map(([method, answer]) => [
          method,
          ({ params }: { readonly params: object }) => ({ ...answer(params), ttlMs: 0, cacheScope: "private" }),
        ]),
      ),
    },
  )

layer(house({ store: "sqlite", config }), { excludeTestServices: true, timeout: 60_000 })("malformed servers", (it) => {
  for (const serverEra of eras)
    for (const client of eras)
      it.effect(`${client} client, ${serverEra} server: malformed items are left out, malformed parts too`, () =>
        Effect.gen(function* () {
          const { name, token, url } = yield* joined((yield* poison(serverEra)).url)
          const it = yield* ((client === "old" ? oldClient : newClient) as typeof newClient)(`${url}/mcp`, token)
          const { resources } = yield* ask(() => it.listResources())
          const prefix = `stoa-mcp://${name}/`
          assert.deepStrictEqual(resources, [
            { uri: `${prefix}mem://ok`, name: "ok", icons: [{ src: "https://icons.example/a.png" }] },
            { uri: `${prefix}mem://3`, name: "x" },
            { uri: `${prefix}mem://4`, name: "half a byte" },
          ])
          const { resourceTemplates } = yield* ask(() => it.listResourceTemplates())
          assert.deepStrictEqual(resourceTemplates, [{ uriTemplate: `${prefix}a://{x}`, name: "ok" }])
          const { prompts } = yield* ask(() => it.listPrompts())
          assert.deepStrictEqual(prompts, [{ name: `${name}__p` }, { name: `${name}__q`, title: "Q" }])
          const { tools } = yield* ask(() => it.listTools())
          const mine = tools.filter((one) => one.name.startsWith(`${name}__`))
          assert.deepStrictEqual(
            mine.map((one) => one.name),
            [`${name}__fine`, `${name}__odd`],
          )
          const odd = mine[1]!
          assert.strictEqual(odd.description, "")
          assert.isUndefined(odd.title ?? odd.icons ?? odd.outputSchema ?? odd._meta)
        }),
      )

  for (const serverEra of eras)
    it.effect(`${serverEra} server: its lists and answers are what the official schemas say`, () =>
      Effect.gen(function* () {
        const { place, token } = yield* joined((yield* poison(serverEra)).url)
        const hello = yield* ask(() =>
          oldRequest(place, token, "initialize", {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "raw", version: "1" },
          }),
        )
        const session = hello.headers.get("mcp-session-id")!
        // Each answer is held against the schema as it comes.
        for (const method of Object.keys(lists)) {
          yield* ask(() => oldRequest(place, token, method, {}, session))
          yield* ask(() => newRequest(place, token, method, {}))
        }
        for (const [method, params] of [
          ["resources/read", { uri: "mem://ok" }],
          ["resources/read", { uri: "mem://3" }],
          ["prompts/get", { name: "p" }],
          ["prompts/get", { name: "q" }],
        ] as const)
          for (const { body } of [
            yield* ask(() => oldRequest(place, token, method, params, session)),
            yield* ask(() => newRequest(place, token, method, params)),
          ]) {
            assert.strictEqual(body.error.code, -32_603)
            assert.match(
              body.error.message,
              /cannot be read: (contents|messages)|Invalid result for (resources.read|prompts.get)$/,
            )
          }
        const read = yield* ask(() => newRequest(place, token, "resources/read", { uri: "mem://4" }))
        assert.strictEqual(read.body.result.contents[0].text, "read")
        const completed = yield* ask(() =>
          newRequest(place, token, "completion/complete", {
            ref: { type: "ref/prompt", name: "p" },
            argument: { name: "a", value: "b" },
          }),
        )
        assert.deepStrictEqual(completed.body.result.completion, { values: ["five"], hasMore: false })
      }),
    )

  const faulty: Readonly<Record<string, (response: ServerResponse) => void>> = {
    "an error of HTTP": (response) => response.writeHead(500).end("no"),
    "a redirect to elsewhere": (response) => response.writeHead(307, { location: "http://127.0.0.1:9/" }).end(),
    "a redirect that changes the method": (response) => response.writeHead(302, { location: "/other" }).end(),
    "more than anybody reads": (response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: text("z".repeat(11 * 1024 * 1024)) })),
    "something else than JSON": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  }
  for (const era of eras)
    it.effect(`${era} server: a call that fails on HTTP is one call, and those of others go on`, () =>
      Effect.gen(function* () {
        const done: { with?: (result: Record<string, unknown>) => void } = {}
        const server = yield* served(era, {
          slow: () => new Promise((resolve) => void (done.with = resolve)),
          bad: ({ params, response }) => {
            faulty[params.arguments.how]!(response)
            return {}
          },
        })
        const { admin, name, place, token } = yield* joined(server.url)
        const call = (tool: string, given: object) =>
          ask(() => newRequest(place, token, "tools/call", { name: tool, arguments: given }))
        const slow = yield* Effect.forkScoped(call("slow", {}))
        yield* until(() => done.with !== undefined)
        // More of them than a server that hangs would be given.
        for (const how of [...Object.keys(faulty), ...Object.keys(faulty)]) {
          const { body } = yield* call("bad", { how })
          assert.strictEqual(body.result.isError, true, how)
          assert.match(body.result.content[0].text, /Whether it acted is unknown/, how)
        }
        assert.strictEqual((yield* ask(() => admin.mcpServers.get(name))).status, "connected")
        assert.isNull(slow.pollUnsafe() ?? null)
        done.with!(text("slow and steady"))
        const { body } = yield* Fiber.join(slow)
        assert.strictEqual(body.result.content[0].text, "slow and steady")
        assert.lengthOf(server.sent(era === "old" ? "initialize" : "tools/list"), 1)
      }),
    )

  it.effect("what is left out of a server's tools is said, with the reason, and crowds out nobody", () =>
    Effect.gen(function* () {
      const one = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
      const many = Array.from({ length: 1002 }, (_, at) => one(`t${at}`))
      const odd = [one("a b"), one("list", { inputSchema: { type: "array" } }), { name: "none" }]
      const server = yield* served("old", {}, { "tools/list": () => ({ tools: [...odd, ...many] }) })
      const { admin, name, token, url } = yield* joined(server.url)
      const second = yield* joined((yield* served("old", { fine: () => text("fine") })).url)
      const { leftOut, tools } = yield* ask(() => admin.mcpServers.get(name))
      const why = {
        "a b": /name must be 1 to 128 characters without spaces/,
        list: /inputSchema must be a schema of type object/,
        "number 3": /no name or no input schema/,
        t998: /more than 1000 tools of one server/,
        t1001: /more than 1000 tools of one server/,
      }
      assert.lengthOf(tools, 998)
      assert.lengthOf(leftOut, 7)
      const pinned = (yield* ask(() => admin.mcpServers.tools(name))).items
      for (const [tool, reason] of Object.entries(why)) {
        assert.match(leftOut.find((it) => it.name === tool)?.why ?? "", reason)
        const shown = pinned.find((it) => it.name === tool)
        assert.strictEqual(shown?.state, "left-out")
        assert.match(shown?.why ?? "", reason)
      }
      assert.strictEqual(pinned.find((it) => it.name === "t7")?.state, "active")
      const { body } = yield* ask(() => newRequest(`${url}/mcp`, token, "tools/list"))
      const names = (body.result.tools as ReadonlyArray<{ readonly name: string }>).map((it) => it.name)
      assert.lengthOf(
        names.filter((it) => it.startsWith(`${name}__`)),
        998,
      )
      assert.include(names, `${second.name}__fine`)
      const poisoned = yield* joined((yield* poison("new")).url)
      yield* ask(() => newRequest(poisoned.place, token, "resources/list"))
      const said = (yield* ask(() => admin.mcpServers.get(poisoned.name))).leftOut
      assert.sameMembers(
        said.map((it) => it.what),
        [
          "tool",
          "tool",
          ...Array(4).fill("resource"),
          ...Array(2).fill("resource template"),
          ...Array(2).fill("prompt"),
        ],
      )
    }),
  )

  for (const client of eras)
    it.effect(`${client} client: a tool whose result is no object can be called`, () =>
      Effect.gen(function* () {
        const numbers = { type: "array", items: { type: "number" } }
        const tools = [
          { name: "list", description: "gives numbers", inputSchema: { type: "object" }, outputSchema: numbers },
        ]
        const server = yield* served(
          "new",
          {
            list: ({ params }) => ({
              content: [],
              structuredContent: params.arguments.bad === true ? ["one"] : [1, 2],
            }),
          },
          { "tools/list": () => ({ tools, ttlMs: 0, cacheScope: "private" }) },
        )
        const { place, token } = yield* joined(server.url)
        const it = yield* ((client === "old" ? oldClient : newClient) as typeof newClient)(place, token)
        const listed = (yield* ask(() => it.listTools())).tools[0]!
        assert.deepStrictEqual(listed.outputSchema, client === "old" ? undefined : numbers)
        const result = yield* ask(() => it.callTool({ name: "list", arguments: {} }))
        assert.deepStrictEqual(result.structuredContent, client === "old" ? undefined : [1, 2])
        // Who cannot be given the structure is given its text.
        assert.deepStrictEqual(result.content, client === "old" ? [{ type: "text", text: "[1,2]" }] : [])
        const bad = yield* ask(() => it.callTool({ name: "list", arguments: { bad: true } }))
        assert.strictEqual(bad.isError, true)
        assert.include(JSON.stringify(bad.content), "not what its output schema says")
      }),
    )

  it.effect("a task whose result is none fails, and says why", () =>
    Effect.gen(function* () {
      const server = yield* served(
        "new",
        { later: () => made("t1") },
        { "tasks/get": () => taskIs("t1", "completed", { result: { content: [{ type: "text" }] } }) },
      )
      const { place, token } = yield* joined(server.url)
      const { body } = yield* ask(() => newRequest(place, token, "tools/call", { name: "later", arguments: {} }))
      assert.strictEqual(body.result.isError, true)
      assert.match(body.result.content[0].text, /its result cannot be read: content/)
    }),
  )
})
