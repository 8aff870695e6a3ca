/**
 * The names that seed 004's code gives to parts of this library, so that code written for it finds them: the registry, the
 * MCP client, the sandbox, the configuration, and two skills. Each is a thin form of what the library has.
 */
import type { ToolDefinition, ToolExecutionError } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import type { ToolHandler } from "./Handler.ts"
import { MCPClient } from "./mcp/client/MCPClient.ts"
import type { MCPServerConfig } from "./mcp/MCPServerConfig.ts"
import { MCPPorts } from "./mcp/session/MCPPorts.ts"
import { Registry, type ToolFilter } from "./registry/Registry.ts"
import { EventsPort } from "./road/Ports.ts"
import { runInTime } from "./sandbox/Timeout.ts"
import { fileRead } from "./skills/files.ts"
import { webSearch } from "./skills/webSearch.ts"
import { CurrentToolsConfig, defaultToolsConfig, type ToolsConfig as Config } from "./ToolsConfig.ts"

/** A registry of its own. What it does not take, it logs: registering has no failure (S4-33). */
export const makeToolRegistry = Effect.map(CurrentToolsConfig, (config) => {
  const registry = new Registry(config)
  return {
    register: (definition: ToolDefinition, handler: ToolHandler): Effect.Effect<void> =>
      Effect.catch(registry.add({ definition, handler }), (error) => Effect.logWarning(error.message)),
    get: registry.get,
    list: (filter?: ToolFilter) => Effect.sync(() => registry.list(filter)),
    toFunctionCallingFormat: () => Effect.sync(() => registry.formats().anthropic),
  }
})

/** A client of its own; it ends its servers when its scope closes. */
export const makeMCPClient = Effect.gen(function* () {
  const given = yield* MCPPorts
  const events = yield* EventsPort
  const onEvent: MCPPorts["onEvent"] = (event) =>
    Effect.andThen(Effect.ignoreCause(events.publish(event)), given.onEvent(event))
  const ports = Layer.succeed(MCPPorts, { ...given, onEvent })
  const client = Context.get(yield* Layer.build(Layer.provide(MCPClient.layer, ports)), MCPClient)
  return {
    connect: (config: MCPServerConfig) => Effect.flatMap(client.connect(config), ({ server }) => server),
    callTool: client.callTool,
    disconnect: client.disconnect,
    listServers: () => client.list,
  }
})

/** Runs a handler in its time; `toolName` is the name that its errors carry. */
export const makeSandbox = () => ({
  execute: <A>(
    fn: () => Effect.Effect<A, ToolExecutionError>,
    { timeoutMs, toolName = "unknown" }: { readonly timeoutMs: number; readonly toolName?: string },
  ) => runInTime({ name: toolName, timeoutMs }, fn),
})

/** The defaults, with the protocol version that the seed names. */
export const ToolsConfig: Config = {
  ...defaultToolsConfig,
  mcp: { ...defaultToolsConfig.mcp, protocolVersion: "2024-11-05" },
}
export type ToolsConfig = Config

export const { definition: webSearchTool, handler: webSearchHandler } = webSearch
export const { definition: fileReadTool, handler: fileReadHandler } = fileRead
