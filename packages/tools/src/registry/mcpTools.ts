/**
 * The tools of connected MCP servers in a registry: registered while their server lists them, removed when it is
 * disconnected.
 */
import type { MCPConnectionError, MCPServer, ToolValidationError } from "@stoa/contract"
import { Context, Effect, Layer, type Scope } from "effect"
import { MCPClient } from "../mcp/client/MCPClient.ts"
import { MCPPorts } from "../mcp/session/MCPPorts.ts"
import type { MCPServerConfig } from "../mcp/MCPServerConfig.ts"
import type { MCPTool } from "../mcp/client/tools/MCPTool.ts"
import { mcpTool } from "../mcp/client/tools/MCPToolDefinition.ts"
import { EventsPort } from "../road/Ports.ts"
import type { Registry } from "./Registry.ts"

export interface MCPTools {
  readonly connectMCPServer: (config: MCPServerConfig) => Effect.Effect<MCPServer, MCPConnectionError>
  readonly disconnectMCPServer: (name: string) => Effect.Effect<void, MCPConnectionError>
  readonly listMCPServers: () => Effect.Effect<ReadonlyArray<MCPServer>>
}

export const makeMCPTools = Effect.fnUntraced(function* (
  registry: Registry,
  rejected: (error: ToolValidationError) => Effect.Effect<void>,
): Effect.fn.Return<MCPTools, never, Scope.Scope> {
  const given = yield* MCPPorts
  const events = yield* EventsPort
  const registered = new Map<string, ReadonlyArray<string>>()
  let client: MCPClient["Service"]

  const forget = (server: string) => {
    for (const name of registered.get(server) ?? []) registry.remove(name)
    registered.delete(server)
  }

  /** The list is complete: missing tools are removed, and a changed tool is a new tool. */
  const follow = Effect.fnUntraced(function* (server: string, tools: ReadonlyArray<MCPTool>) {
    const connection = yield* client.get(server)
    forget(server)
    const names: Array<string> = []
    for (const tool of tools.map((one) => mcpTool(connection, one))) {
      const added = yield* Effect.match(registry.add(tool), { onSuccess: () => undefined, onFailure: (error) => error })
      if (added === undefined) names.push(tool.definition.name)
      else yield* rejected(added)
    }
    registered.set(server, names)
  })

  const listed = Effect.fnUntraced(function* (server: string) {
    const connection = yield* client.get(server)
    yield* follow(server, yield* connection.tools)
  })

  const ports: MCPPorts = {
    ...given,
    // Reported only when its tools can be called.
    onEvent: (event) =>
      Effect.gen(function* () {
        if (event.type === "tools.mcp-connected") yield* Effect.ignore(listed(event.payload.serverName))
        yield* Effect.ignoreCause(events.publish(event))
        yield* given.onEvent(event)
      }),
    onTools: (server, tools) => Effect.andThen(Effect.ignore(follow(server, tools)), given.onTools(server, tools)),
  }
  client = Context.get(yield* Layer.build(Layer.provide(MCPClient.layer, Layer.succeed(MCPPorts, ports))), MCPClient)

  return {
    connectMCPServer: Effect.fn("ToolService.connectMCPServer")(function* (config) {
      const connection = yield* client.connect(config)
      return yield* connection.server
    }),
    disconnectMCPServer: Effect.fn("ToolService.disconnectMCPServer")(function* (name) {
      yield* client.disconnect(name)
      forget(name)
    }),
    listMCPServers: () => client.list,
  }
})
