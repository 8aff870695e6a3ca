/** S4-109: an MCP tool runs in less than 5 s, a server is connected with its tools in less than 10 s. `npx vitest bench`. */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MCPClient } from "../src/mcp/client/MCPClient.ts"
import type { MCPConnection } from "../src/mcp/client/MCPConnection.ts"
import { discoverMCPServers } from "../src/mcp/client/MCPDiscovery.ts"
import type { MCPServerConfig } from "../src/mcp/MCPServerConfig.ts"
import { freePort, webSocketServer } from "./fixtures/loopback.ts"
import { client, everything, raw } from "./mcpKit.ts"

const runtime = ManagedRuntime.make(client().layer)
const run = <A, E>(effect: Effect.Effect<A, E, MCPClient>) => runtime.runPromise(effect)
const stdio: MCPServerConfig = { name: "stdio", transport: "stdio", ...everything("stdio") }

let served: ChildProcess | undefined
const http = async (): Promise<MCPServerConfig> => {
  const port = await Effect.runPromise(freePort)
  const { args, command } = everything("streamableHttp")
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  })
  served = child
  await new Promise<void>((ready) => {
    child.stderr.on("data", (text: Buffer) => {
      if (text.includes("listening")) ready()
    })
  })
  return { name: "http", transport: "streamable-http", endpoint: `http://127.0.0.1:${port}/mcp` }
}

const connect = (config: MCPServerConfig) => Effect.flatMap(MCPClient, (mcp) => mcp.connect(config))
const once = (config: MCPServerConfig) =>
  run(
    Effect.andThen(
      connect(config),
      Effect.flatMap(MCPClient, (mcp) => mcp.disconnect(config.name)),
    ),
  )

let overHttp: MCPServerConfig
const calls: Record<string, MCPConnection> = {}

beforeAll(async () => {
  overHttp = await http()
  calls["stdio"] = await run(connect({ ...stdio, name: "calls-stdio" }))
  calls["streamable-http"] = await run(connect({ ...overHttp, name: "calls-http" }))
})
afterAll(async () => {
  served?.kill("SIGKILL")
  await runtime.dispose()
})

describe("S4-109 connection with its tools under 10 s", () => {
  it("stdio, a new process each time, and its end", async ({ bench }) => {
    const result = await bench("stdio", async () => once(stdio)).run({ time: 0, iterations: 5, warmup: false })
    expect(result.latency.p99).toBeLessThan(10_000)
  })
  it("streamable-http", async ({ bench }) => {
    const result = await bench("streamable-http", async () => once(overHttp)).run({
      time: 0,
      iterations: 5,
      warmup: false,
    })
    expect(result.latency.p99).toBeLessThan(10_000)
  })
  it("websocket", async ({ bench }) => {
    const result = await bench("websocket", async () =>
      run(
        Effect.scoped(
          Effect.flatMap(webSocketServer(""), ({ url }) =>
            Effect.andThen(
              connect({ name: "ws", transport: "websocket", endpoint: url }),
              Effect.flatMap(MCPClient, (mcp) => mcp.disconnect("ws")),
            ),
          ),
        ),
      )).run({ time: 0, iterations: 5, warmup: false })
    expect(result.latency.p99).toBeLessThan(10_000)
  })
  it("discovery of eight servers", async ({ bench }) => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"]
    const mcpServers = Object.fromEntries(
      names.map((name) => {
        const { args, command } = raw(name).config
        return [name, { command, args }]
      }),
    )
    const result = await bench("eight servers", async () =>
      run(
        Effect.gen(function* () {
          const { servers } = yield* discoverMCPServers({ mcpServers })
          expect(servers.every(({ outcome }) => outcome === "connected")).toBe(true)
          const mcp = yield* MCPClient
          yield* Effect.forEach(names, (name) => mcp.disconnect(name), { concurrency: "unbounded" })
        }),
      )).run({ time: 0, iterations: 5, warmup: false })
    expect(result.latency.p99).toBeLessThan(10_000)
  })
})

describe("S4-109 execution under 5 s", () => {
  for (const transport of ["stdio", "streamable-http"])
    it(transport, async ({ bench }) => {
      const call = async () => run(calls[transport]!.callTool("echo", { message: "hi" }))
      const result = await bench(`call over ${transport}`, call).run({ time: 2000 })
      expect(result.latency.p99).toBeLessThan(5000)
    })
})
