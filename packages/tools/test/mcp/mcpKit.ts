// What the MCP suites share: fixture servers, a client with its ears open, and quiet ways to wait.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { MCPServer } from "@stoa/contract"
import { ConfigProvider, Effect, Layer, Queue } from "effect"
import { temporary } from "../../../../test/temporary.ts"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { defaultMCPPorts, type MCPEvent, MCPPorts } from "../../src/mcp/session/MCPPorts.ts"
import type { MCPServerConfig } from "../../src/mcp/MCPServerConfig.ts"
import { defaultMCPSettings, MCPSettings } from "../../src/mcp/MCPSettings.ts"
import type { MCPTool } from "../../src/mcp/client/tools/MCPTool.ts"
import { CurrentToolsConfig, defaultToolsConfig, type ToolsConfig } from "../../src/ToolsConfig.ts"

const fixture = fileURLToPath(new URL("../fixtures/rawServer.ts", import.meta.url))

/** A fixture that is wrong in the given ways, and the file it writes down what it hears. */
export const raw = (name: string, ...ways: ReadonlyArray<string>) => {
  const log = join(temporary(), "log")
  const config: MCPServerConfig = {
    name,
    transport: "stdio",
    command: process.execPath,
    args: [fixture, [...ways, `log=${log}`].join(",")],
  }
  const heard = (): ReadonlyArray<string> => readFileSync(log, "utf8").trim().split("\n")
  const starts = () => heard().filter((line) => line.startsWith("start ")).length
  const messages = () =>
    heard().flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []))
  return { config, heard, starts, messages }
}

export const everything = (mode: string) => ({
  command: process.execPath,
  args: [fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js")), mode],
})

interface Ears {
  readonly events: Array<MCPEvent>
  readonly statuses: Queue.Queue<MCPServer>
  readonly tools: Queue.Queue<ReadonlyArray<MCPTool>>
}

/** A client whose ports write down what they are told. */
export const client = (
  changes: {
    readonly ports?: Partial<MCPPorts>
    readonly limits?: Partial<ToolsConfig["mcp"]>
    readonly settings?: Partial<MCPSettings>
    readonly env?: Record<string, string>
  } = {},
) => {
  const ears: Ears = {
    events: [],
    statuses: Effect.runSync(Queue.unbounded<MCPServer>()),
    tools: Effect.runSync(Queue.unbounded<ReadonlyArray<MCPTool>>()),
  }
  const ports: MCPPorts = {
    ...defaultMCPPorts(),
    onEvent: (event) => Effect.sync(() => void ears.events.push(event)),
    onStatus: (server) => Effect.asVoid(Queue.offer(ears.statuses, server)),
    onTools: (_, tools) => Effect.asVoid(Queue.offer(ears.tools, tools)),
    ...changes.ports,
  }
  const limits = { ...defaultToolsConfig.mcp, ...changes.limits }
  const layer = MCPClient.layer.pipe(
    Layer.provide(Layer.succeed(MCPPorts, ports)),
    Layer.provide(Layer.succeed(MCPSettings, { ...defaultMCPSettings, backoffMs: 20, ...changes.settings })),
    Layer.provide(Layer.succeed(CurrentToolsConfig, { ...defaultToolsConfig, mcp: limits })),
    Layer.provide(
      changes.env === undefined ? Layer.empty : ConfigProvider.layer(ConfigProvider.fromEnv({ env: changes.env })),
    ),
  )
  return { ears, layer }
}

export const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Asks until it is so, or the test's own time is up. */
export const until = (what: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!what()) yield* Effect.sleep(10)
  })
