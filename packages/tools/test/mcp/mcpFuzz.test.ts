// What comes from the wire is a stranger's. Whatever it is, a call settles in one of our ways and the next one works.
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Queue } from "effect"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { readMCPServers } from "../../src/mcp/client/MCPDiscovery.ts"
import { readMCPTools } from "../../src/mcp/client/tools/MCPTool.ts"
import { mcpToolDefinition } from "../../src/mcp/client/tools/MCPToolDefinition.ts"
import { hostileValue, seeded } from "../fixtures/hostile.ts"
import { httpServer } from "../fixtures/loopback.ts"
import { client } from "./mcpKit.ts"

const fixture = fileURLToPath(new URL("../fixtures/hostileServer.ts", import.meta.url))
const server = (name: string, seed: number, when: string) => ({
  name,
  transport: "stdio" as const,
  command: process.execPath,
  args: [fixture, String(seed), when],
})
const tags = ["ToolExecutionError", "ToolTimeoutError", "MCPConnectionError"]

/** Succeeded, or failed as one of ours: no defect, no interruption. */
const settled = (exit: Exit.Exit<unknown, { readonly _tag: string }>): boolean =>
  Exit.isSuccess(exit) || exit.cause.reasons.every((it) => it._tag === "Fail" && tags.includes(it.error._tag))

describe("MCP fuzz", () => {
  it.live("3,000 hostile lines on a pipe, between and instead of answers", () => {
    const { layer } = client({ limits: { requestTimeoutMs: 2000 } })
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      for (const seed of [1, 2, 3]) {
        const connection = yield* mcp.connect(server(`h${seed}`, seed, "between"))
        for (let call = 0; call < 100; call++) {
          const exit = yield* Effect.exit(connection.callTool("echo", {}))
          assert.isTrue(settled(exit), `seed ${seed}, call ${call}: ${JSON.stringify(exit)}`)
        }
        assert.strictEqual((yield* connection.server).status, "connected")
        yield* mcp.disconnect(`h${seed}`)
      }
      assert.strictEqual(Object.getOwnPropertyNames(Object.prototype).length, 12)
    }).pipe(Effect.provide(layer))
  })

  it.live("a handshake of hostile answers connects or fails, within its time", () => {
    const { layer } = client({ limits: { connectionTimeoutMs: 1500, maxRetries: 1 } })
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const exits = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, seed) => seed),
        (seed) => Effect.exit(mcp.connect(server(`s${seed}`, seed, "handshake"))),
        { concurrency: 4 },
      )
      assert.isTrue(exits.every(settled))
    }).pipe(Effect.provide(layer))
  })

  it.live("300 hostile bodies over HTTP, under any content type", () => {
    let hits = 0
    const { ears, layer } = client({
      limits: { requestTimeoutMs: 1000 },
      settings: { breaker: { failures: 1000, coolDownMs: 1 }, backoffMs: 1 },
    })
    const random = seeded(4)
    const types = ["application/json", "text/event-stream", "text/html", "", "application/json; charset=x"]
    return Effect.gen(function* () {
      const { url } = yield* httpServer({
        initialize: () => ({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "h", version: "1" },
        }),
        "tools/list": () => ({ tools: [{ name: "act", inputSchema: {} }] }),
        "tools/call": ({ id }, response) => {
          hits += 1
          const type = types[Math.floor(random() * types.length)] ?? ""
          if (type !== "") response.setHeader("content-type", type)
          response.statusCode = [200, 200, 200, 202, 400, 404, 418, 500][Math.floor(random() * 8)] ?? 200
          const body = JSON.stringify(
            random() < 0.5 ? { jsonrpc: "2.0", id, result: hostileValue(random) } : hostileValue(random),
          )
          const cut = random() < 0.2 ? body.slice(0, 5) : body
          response.end(type === "text/event-stream" ? `event: message\ndata: ${cut}\n\n` : cut)
        },
      })
      const mcp = yield* MCPClient
      const connection = yield* mcp.connect({ name: "h", transport: "streamable-http", endpoint: url })
      for (let call = 0; call < 300; call++) {
        const exit = yield* Effect.exit(connection.callTool("act", {}, { timeoutMs: 80 }))
        assert.isTrue(settled(exit), JSON.stringify(exit))
        // Some of these look like the end of the server, which is then found again.
        if ((yield* connection.server).status !== "connected") yield* Queue.take(ears.statuses)
      }
      assert.isAbove(hits, 150)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it("20,000 hostile tool lists and configurations are read without harm", () => {
    const random = seeded(5)
    for (let round = 0; round < 20_000; round++) {
      const value = hostileValue(random)
      const list = Array.isArray(value) ? value : [value, { name: "x", inputSchema: value, annotations: value }]
      const { tools } = readMCPTools(list, { allowed: undefined, headers: true, most: 100 })
      for (const tool of tools) mcpToolDefinition("s", tool)
      readMCPServers({ mcpServers: value })
    }
    assert.isUndefined(({} as Record<string, unknown>)["jsonrpc"])
  })
})
