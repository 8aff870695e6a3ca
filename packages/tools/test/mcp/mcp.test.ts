// The MCP client against servers that are right, old, slow or wrong, over a real pipe.
import { assert, describe, it } from "@effect/vitest"
import type { ToolExecutionError } from "@stoa/contract"
import { Effect, Fiber, Queue } from "effect"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { alive, client, raw, until } from "./mcpKit.ts"

const textOf = (result: { readonly content: ReadonlyArray<unknown> }) =>
  (result.content[0] as { readonly text: string }).text

describe("MCP connection", () => {
  it.live("S4-62 S4-63 S4-64 X-55 opens, initializes, lists, records and tells, in this order and these bytes", () => {
    const { ears, layer } = client()
    const { config, messages } = raw("seed", "strict")
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect({ ...config, protocolVersion: "2024-11-05" })
      const [initialize, initialized, list, ...rest] = messages()
      assert.strictEqual(initialize?.["method"], "initialize")
      assert.strictEqual(
        JSON.stringify(initialize?.["params"]),
        '{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"clientInfo":{"name":"stoa","version":"0.1.0"}}',
      )
      assert.deepStrictEqual(initialized, { jsonrpc: "2.0", method: "notifications/initialized" })
      assert.strictEqual(list?.["method"], "tools/list")
      assert.deepStrictEqual(rest, [])
      const { status, tools, version } = yield* connection.server
      assert.strictEqual(status, "connected")
      assert.strictEqual(version, "9.9.9")
      assert.lengthOf(tools, 15)
      assert.deepStrictEqual(tools.slice(0, 2), ["echo", "nested"])
      assert.deepStrictEqual(ears.events, [{ type: "tools.mcp-connected", payload: { serverName: "seed", tools } }])
    }).pipe(Effect.provide(layer))
  })

  it.live("X-39 X-55 without a version both eras are tried on one process, and the newest common one is spoken", () => {
    const { layer } = client()
    const old = raw("old")
    const modern = raw("modern", "modern")
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const first = yield* (yield* mcp.connect(old.config)).details
      assert.strictEqual(first.protocolVersion, "2025-11-25")
      assert.deepStrictEqual([old.starts(), old.messages()[0]?.["method"]], [1, "server/discover"])
      const second = yield* mcp.connect(modern.config)
      assert.strictEqual((yield* second.details).protocolVersion, "2026-07-28")
      assert.strictEqual(modern.starts(), 1)
      // S4-66: in the new era a server need not say who it is.
      assert.strictEqual((yield* second.server).version, "unknown")
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-67 an answer in another version we know is taken, any other ends the connection", () => {
    const { ears, layer } = client()
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const newer = raw("newer", "version=2025-11-25")
      const taken = yield* mcp.connect({ ...newer.config, protocolVersion: "2024-11-05" })
      assert.strictEqual((yield* taken.details).protocolVersion, "2025-11-25")
      const ancient = raw("ancient", "version=1999-01-01")
      const refused = yield* Effect.flip(mcp.connect(ancient.config))
      assert.strictEqual(refused._tag, "MCPConnectionError")
      assert.include(refused.message, "1999-01-01")
      assert.strictEqual(ancient.starts(), 1)
      assert.lengthOf(ears.events, 1)
      assert.deepStrictEqual(
        (yield* mcp.list).map(({ name }) => name),
        ["newer"],
      )
      // It is disconnected: its process is gone, though the other's goes on.
      const pid = Number(ancient.heard()[0]!.replace("start ", ""))
      yield* until(() => !alive(pid))
      const unknown = yield* Effect.flip(mcp.connect({ ...raw("x").config, protocolVersion: "2031-01-01" }))
      assert.include(unknown.message, "2031-01-01")
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-65 S4-37 S4-38 every page is read, and a tool is kept as it was described", () => {
    const { layer } = client()
    const { config } = raw("pages", "pages")
    return Effect.gen(function* () {
      const tools = yield* (yield* (yield* MCPClient).connect(config)).tools
      assert.lengthOf(tools, 15)
      const nested = tools.find(({ name }) => name === "nested")!
      assert.strictEqual(
        JSON.stringify(nested.inputSchema),
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["where"],"properties":{"where":{"$ref":"#/$defs/place","description":"where to"},"when":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}},"$defs":{"place":{"$anchor":"p","type":"object","properties":{"lat":{"type":"number"}},"additionalProperties":false}},"x-vendor":{"z":1,"a":2}}',
      )
      assert.deepStrictEqual(nested.annotations, { destructiveHint: true, title: "Nested" })
      assert.deepStrictEqual(nested.raw["_meta"], { "a/b": [1] })
      const endless = yield* Effect.flip((yield* MCPClient).connect(raw("endless", "pages", "endless").config))
      assert.include(endless.message, "does not come to an end")
    }).pipe(Effect.provide(layer))
  })

  it.live("only allowed tools are shown and callable", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const { config } = raw("some")
      const connection = yield* (yield* MCPClient).connect({ ...config, allowedTools: ["echo", "absent"] })
      assert.deepStrictEqual((yield* connection.server).tools, ["echo"])
      assert.strictEqual((yield* Effect.flip(connection.callTool("env", {})))._tag, "ToolExecutionError")
    }).pipe(Effect.provide(layer))
  })

  it.live(
    "S4-39 S4-41 S4-45 S4-68 S4-111 disconnecting ends the process once; unknown and ended servers are errors",
    () => {
      const { ears, layer } = client()
      const { config, heard } = raw("brief")
      return Effect.gen(function* () {
        const mcp = yield* MCPClient
        yield* mcp.connect(config)
        assert.strictEqual((yield* Effect.flip(mcp.connect(config)))._tag, "MCPConnectionError")
        assert.lengthOf(yield* mcp.list, 1)
        const pid = Number(heard()[0]!.replace("start ", ""))
        assert.isTrue(alive(pid))
        yield* mcp.disconnect("brief")
        assert.include(heard(), "EOF")
        assert.isFalse(alive(pid))
        const listed = yield* mcp.list
        assert.deepStrictEqual(
          listed.map(({ name, status, tools }) => ({ name, status, tools })),
          [{ name: "brief", status: "disconnected", tools: [] }],
        )
        for (const serverName of ["brief", "nobody"]) {
          const called = yield* Effect.flip(mcp.callTool(serverName, "echo", {}))
          assert.deepInclude(called, { _tag: "MCPConnectionError", serverName })
          assert.include(called.message, `MCP server "${serverName}" not connected`)
          const ended = yield* Effect.flip(mcp.disconnect(serverName))
          assert.deepInclude(ended, { _tag: "MCPConnectionError", serverName })
        }
        assert.deepStrictEqual(
          ears.events.map(({ type }) => type),
          ["tools.mcp-connected", "tools.mcp-disconnected"],
        )
        assert.deepStrictEqual(ears.events[1]!.payload, { serverName: "brief" })
        yield* mcp.connect(config)
        assert.strictEqual((yield* mcp.list)[0]?.status, "connected")
      }).pipe(Effect.provide(layer))
    },
  )

  it.live("S4-11 S4-19 what cannot be reached says so at once, with what the program said", () => {
    const { ears, layer } = client()
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const missing = yield* Effect.flip(
        mcp.connect({ name: "gone", transport: "stdio", command: "/nowhere/mcp", args: [] }),
      )
      assert.deepStrictEqual(
        [missing._tag, missing.serverName, missing.transport],
        ["MCPConnectionError", "gone", "stdio"],
      )
      assert.include(missing.message, "/nowhere/mcp")
      const faulty = [
        { name: "a", transport: "stdio" as const },
        { name: "b", transport: "sse" as const },
        { name: "c", transport: "websocket" as const, endpoint: "http://localhost" },
        { name: "d/e", transport: "stdio" as const, command: "x" },
      ]
      for (const config of faulty)
        assert.strictEqual((yield* Effect.flip(mcp.connect(config)))._tag, "MCPConnectionError")
      assert.deepStrictEqual(ears.events, [])
      assert.deepStrictEqual(yield* mcp.list, [])
    }).pipe(Effect.provide(layer))
  })
})

describe("MCP calls", () => {
  it.live("S4-37 S4-69 S4-70 arguments arrive; isError and JSON-RPC errors are failures that carry them", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("calls").config)
      assert.strictEqual(textOf(yield* connection.callTool("echo", { a: { b: [1] } })), '{"a":{"b":[1]}}')
      const failed = yield* Effect.flip(connection.callTool("fails", { a: 1 }))
      assert.deepInclude(failed, {
        _tag: "ToolExecutionError",
        message: 'MCP tool "fails" failed: the disk is full',
        toolName: "calls/fails",
        input: { a: 1 },
      })
      const refused = yield* Effect.flip(connection.callTool("rpc-error", { a: 2 }))
      assert.deepInclude(refused, { _tag: "ToolExecutionError", input: { a: 2 } })
      assert.include(refused.message, "no such planet")
      assert.deepStrictEqual((refused as ToolExecutionError).cause, {
        code: -32_050,
        message: "no such planet",
        data: { planet: "Vulcan" },
      })
    }).pipe(Effect.provide(layer))
  })

  it.live("S4-71 request ids increase, and answers are matched by id, whatever their order", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const { config, heard, messages } = raw("order")
      const connection = yield* (yield* MCPClient).connect(config)
      const later = yield* Effect.forkChild(connection.callTool("later", {}))
      yield* until(() => heard().some((line) => line.includes('"later"')))
      const answers = yield* Effect.all(
        [connection.callTool("now", {}), ...[1, 2, 3, 4].map((n) => connection.callTool("echo", { n }))],
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(answers.map(textOf), ["now", '{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
      assert.strictEqual(textOf(yield* Fiber.join(later)), "later")
      // Of the session; the question for its era before it is named otherwise.
      const ids = messages().flatMap(({ id, method }) =>
        id === undefined || method === "server/discover" ? [] : [Number(id)],
      )
      assert.isAtLeast(ids.length, 8)
      assert.isTrue(
        ids.every((id, at) => at === 0 || id > ids[at - 1]!),
        ids.join(" "),
      )
    }).pipe(Effect.provide(layer))
  })

  it.live("G-25 G-31 list_changed refreshes the tools, once, and whoever follows is told", () => {
    const { ears, layer } = client()
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("growing").config)
      yield* connection.callTool("grow", {})
      const tools = yield* Queue.take(ears.tools)
      assert.include(
        tools.map(({ name }) => name),
        "grown",
      )
      assert.include((yield* connection.server).tools, "grown")
      assert.lengthOf(ears.events, 1)
    }).pipe(Effect.provide(layer))
  })
})
