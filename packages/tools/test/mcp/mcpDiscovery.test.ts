// The mcpServers form of other clients: read with faults by path, connected side by side, dead ones survived.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { discoverMCPServers, discoverMCPServersIn, readMCPServers } from "../../src/mcp/client/MCPDiscovery.ts"
import { mcpTool, mcpToolDefinition } from "../../src/mcp/client/tools/MCPToolDefinition.ts"
import { freePort, httpServer, webSocketServer } from "../fixtures/loopback.ts"
import { temporary } from "../../../../test/temporary.ts"
import { client, raw } from "./mcpKit.ts"

const entry = (...ways: ReadonlyArray<string>) => {
  const { command, args } = raw("x", ...ways).config
  return { command, args }
}

describe("MCP discovery", () => {
  it("S4-73 X-58 reads every spelling in use, and names what it cannot read by its path", () => {
    const found = readMCPServers({
      mcpServers: {
        plain: { command: "npx", args: ["-y", "x"], env: { KEY: "v" } },
        web: { url: "https://x.dev/mcp", headers: { a: "b" } },
        typed: { type: "http", url: "https://x.dev/mcp" },
        old: { type: "sse", url: "https://x.dev/sse", allowedTools: ["one"] },
        socket: { url: "wss://x.dev" },
        off: { command: "x", disabled: true },
        numbers: { command: "x", args: ["a", 1], env: { A: 2 } },
        both: { command: "x", url: "https://x.dev" },
        neither: {},
        odd: { type: "carrier-pigeon", url: "https://x.dev" },
        "a/b": { command: "x" },
        text: "npx",
      },
    })
    assert.deepStrictEqual(found.servers, [
      { name: "plain", transport: "stdio", command: "npx", args: ["-y", "x"], env: { KEY: "v" } },
      { name: "web", transport: "streamable-http", endpoint: "https://x.dev/mcp", headers: { a: "b" } },
      { name: "typed", transport: "streamable-http", endpoint: "https://x.dev/mcp" },
      { name: "old", transport: "sse", endpoint: "https://x.dev/sse", allowedTools: ["one"] },
      { name: "socket", transport: "websocket", endpoint: "wss://x.dev" },
    ])
    assert.deepStrictEqual(found.disabled, ["off"])
    assert.deepStrictEqual(
      found.faults.map(({ path }) => path),
      [
        "mcpServers.numbers.args.1",
        "mcpServers.numbers.env.A",
        "mcpServers.both",
        "mcpServers.neither",
        "mcpServers.odd.type",
        "mcpServers.a/b",
        "mcpServers.text",
      ],
    )
    assert.isTrue(found.faults.every(({ message }) => message.length > 0))
    for (const value of [null, 1, [], { mcpServers: [] }, "x"]) assert.lengthOf(readMCPServers(value).faults, 1)
    // A bare object of servers is the same form without its wrapper.
    assert.lengthOf(readMCPServers({ plain: { command: "x" } }).servers, 1)
  })

  it.live("S4-73 S4-116 connects side by side, reports each, survives the dead", () => {
    const { ears, layer } = client({ limits: { connectionTimeoutMs: 5000, maxRetries: 1 } })
    return Effect.gen(function* () {
      const dead = `http://127.0.0.1:${yield* freePort}/mcp`
      const socket = yield* webSocketServer("")
      const [time, report] = yield* Effect.timed(
        discoverMCPServers({
          mcpServers: {
            one: entry(),
            two: entry("pages"),
            ws: { url: socket.url },
            hanging: entry("deaf"),
            missing: { command: "/nowhere/at/all" },
            dead: { url: dead },
            off: { ...entry(), disabled: true },
            wrong: { command: 1 },
          },
        }),
      )
      assert.deepStrictEqual(
        report.servers.map(({ name, outcome }) => `${name} ${outcome}`),
        [
          "one connected",
          "two connected",
          "ws connected",
          "hanging failed",
          "missing failed",
          "dead failed",
          "off disabled",
        ],
      )
      assert.deepStrictEqual(
        report.faults.map(({ path }) => path),
        ["mcpServers.wrong.command"],
      )
      assert.isBelow(Duration.toMillis(time), 30_000)
      // Each with what it has, or why not.
      for (const it of report.servers) {
        if (it.outcome === "connected") {
          assert.deepInclude(it.server, { name: it.name, status: "connected" })
          assert.include(it.server.tools, "echo")
        }
        if (it.outcome === "failed") assert.strictEqual(it.error.serverName, it.name)
      }
      assert.lengthOf(ears.events, 3)
      assert.lengthOf(yield* (yield* MCPClient).list, 3)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("S4-73 side by side: two servers of which each answers only when both were asked", () => {
    const { layer } = client({ limits: { connectionTimeoutMs: 5000, maxRetries: 1 } })
    const waiting: Array<() => void> = []
    const patient = httpServer({
      initialize: ({ id }, response) => {
        const result = {
          protocolVersion: "2025-06-18",
          capabilities: {},
          serverInfo: { name: "patient", version: "1" },
        }
        waiting.push(() => {
          response.setHeader("content-type", "application/json")
          response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
        })
        if (waiting.length === 2) for (const answer of waiting) answer()
      },
    })
    return Effect.gen(function* () {
      const [one, two] = [yield* patient, yield* patient]
      const report = yield* discoverMCPServers({
        mcpServers: { one: { url: one.url, type: "http" }, two: { url: two.url, type: "http" } },
      })
      assert.deepStrictEqual(
        report.servers.map(({ outcome }) => outcome),
        ["connected", "connected"],
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("S4-73 from a file, which may be missing or no JSON", () => {
    const { layer } = client()
    const file = join(temporary(), "mcp.json")
    return Effect.gen(function* () {
      assert.include((yield* discoverMCPServersIn(file)).faults[0]?.message, "could not be read")
      writeFileSync(file, "{ nonsense")
      assert.include((yield* discoverMCPServersIn(file)).faults[0]?.message, "is not JSON")
      writeFileSync(file, JSON.stringify({ mcpServers: { one: entry() } }))
      const report = yield* discoverMCPServersIn(file)
      assert.deepStrictEqual(report.faults, [])
      assert.strictEqual(report.servers[0]?.outcome, "connected")
    }).pipe(Effect.provide(layer))
  })

  it.live("a URL alone is tried the old way when the new one is refused", () => {
    const { layer } = client({ limits: { maxRetries: 1 } })
    return Effect.gen(function* () {
      const { url } = yield* httpServer({ initialize: (_, response) => void response.writeHead(405).end() })
      const report = yield* discoverMCPServers({ mcpServers: { guess: { url }, sure: { url, type: "http" } } })
      // Neither answers there either: the error is the one of the transport that was meant.
      for (const it of report.servers) {
        if (it.outcome !== "failed") return assert.fail("connected to nothing")
        assert.strictEqual(it.error.transport, "streamable-http")
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})

describe("MCP tools as ours", () => {
  it.live("S4-36 S4-38 X-54 named after the server, medium risk, half a minute, its schema whole", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const connection = yield* (yield* MCPClient).connect(raw("srv").config)
      const tools = yield* connection.tools
      const nested = tools.find(({ name }) => name === "nested")!
      const definition = mcpToolDefinition("srv", nested)
      assert.deepInclude(definition, {
        name: "srv/nested",
        description: "the nested",
        source: "mcp",
        riskLevel: "high",
        timeoutMs: 30_000,
        requiresApproval: false,
      })
      assert.strictEqual(definition.inputSchema, nested.inputSchema)
      assert.deepStrictEqual(
        definition.parameters.map(({ name, required, type }) => ({ name, required, type })),
        [
          { name: "where", required: true, type: "object" },
          { name: "when", required: false, type: "object" },
        ],
      )
      const echo = mcpTool(
        connection,
        tools.find(({ name }) => name === "echo")!,
      )
      assert.strictEqual(echo.definition.riskLevel, "medium")
      const context = {
        id: "c",
        principal: "a",
        space: "s",
        correlationId: "r",
        idempotencyKey: "k",
        progress: () => Effect.void,
      }
      assert.deepStrictEqual(yield* echo.handler({ a: 1 }, context), { content: [{ type: "text", text: '{"a":1}' }] })
      yield* (yield* MCPClient).disconnect("srv")
      const gone = yield* Effect.flip(echo.handler({}, context))
      assert.strictEqual(gone._tag, "ToolExecutionError")
      assert.strictEqual(gone.toolName, "srv/echo")
    }).pipe(Effect.provide(layer))
  })
})
