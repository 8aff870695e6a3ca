/**
 * The MCP servers we are a client of, by name. It connects, lists and ends them; what it learns goes out through
 * MCPPorts, so that a registry can follow. When its scope closes, every server it started is ended.
 */
import { type MCPConnectionError, MCPConnectionError as ConnectionError, type MCPServer } from "@stoa/contract"
import { ConfigProvider, Context, Effect, Exit, Layer, Scope, Semaphore } from "effect"
import { CurrentToolsConfig } from "../../ToolsConfig.ts"
import { makeCallTool, makeRead } from "./requests.ts"
import { makeExchange, makeListAll, makeWatch } from "./exchange/exchange.ts"
import { connectionError } from "./faults.ts"
import type { MCPConnection } from "./MCPConnection.ts"
import { MCPUnreachable } from "./MCPUnreachable.ts"
import { MCPPorts } from "../session/MCPPorts.ts"
import { checkMCPServerConfig, type MCPServerConfig } from "../MCPServerConfig.ts"
import { MCPSettings } from "../MCPSettings.ts"
import { knownVersions } from "../session/protocol.ts"
import { openLink, type ServerLink, serverOf, maintainLink } from "../session/serverLink.ts"

interface Entry {
  readonly link: ServerLink
  readonly connection: MCPConnection
  readonly end: Effect.Effect<void>
}

const connectionOf = (link: ServerLink, permits: Semaphore.Semaphore): MCPConnection => {
  const read = makeRead(link, permits)
  const exchange = makeExchange(link, permits)
  return {
    name: link.options.config.name,
    server: Effect.sync(() => serverOf(link)),
    tools: Effect.sync(() => [...link.tools.values()]),
    details: Effect.suspend(() => {
      const { config } = link.options
      if (link.connection === undefined) return connectionError(config, `MCP server "${config.name}" not connected`)
      const { capabilities, era, instructions, pid, server } = link.connection.session
      const { name: serverName, protocolVersion } = server
      const { dropped } = link
      return Effect.succeed({ serverName, protocolVersion, era: era.kind, capabilities, instructions, pid, dropped })
    }),
    callTool: makeCallTool(link, exchange),
    resources: read("resources", (request) =>
      Effect.map(
        request((it, options) => it.listResources(undefined, options)),
        (it) => it.resources,
      ),
    ),
    resourceTemplates: read("resource templates", (request) =>
      Effect.map(
        request((it, options) => it.listResourceTemplates(undefined, options)),
        (it) => it.resourceTemplates,
      ),
    ),
    readResource: (uri) =>
      read(`resource ${uri}`, (request) => request((it, options) => it.readResource({ uri }, options))),
    prompts: read("prompts", (request) =>
      Effect.map(
        request((it, options) => it.listPrompts(undefined, options)),
        (it) => it.prompts,
      ),
    ),
    getPrompt: (name, args = {}) =>
      read(`prompt ${name}`, (request) =>
        request((it, options) => it.getPrompt({ name, arguments: { ...args } }, options)),
      ),
    complete: (params) => read("completions", (request) => request((it, options) => it.complete(params, options))),
    setLogLevel: (level) =>
      Effect.asVoid(read("log level", (request) => request((it, options) => it.setLoggingLevel(level, options)))),
    exchange,
    listAll: makeListAll(exchange),
    watch: makeWatch(link, permits),
  }
}

export class MCPClient extends Context.Service<
  MCPClient,
  {
    /** Connects and lists the server's tools. A name that is already connected is refused. */
    readonly connect: (config: MCPServerConfig) => Effect.Effect<MCPConnection, MCPConnectionError>
    /** Ends the connection and its process. The server stays listed as disconnected (S4-45). */
    readonly disconnect: (name: string) => Effect.Effect<void, MCPConnectionError>
    readonly list: Effect.Effect<ReadonlyArray<MCPServer>>
    readonly get: (name: string) => Effect.Effect<MCPConnection, MCPConnectionError>
    readonly callTool: (
      server: string,
      ...call: Parameters<MCPConnection["callTool"]>
    ) => ReturnType<MCPConnection["callTool"]>
  }
>()("tools/mcp/MCPClient") {
  static readonly layer = Layer.effect(
    MCPClient,
    Effect.gen(function* () {
      const ports = yield* MCPPorts
      // Servers get a part of the environment this was built with, not of the caller's.
      const environment = yield* ConfigProvider.ConfigProvider
      const settings = yield* MCPSettings
      const limits = (yield* CurrentToolsConfig).mcp
      const scope = yield* Effect.scope
      const entries = new Map<string, Entry>()
      // Names that are being connected: a second attempt would start a second process.
      const busy = new Set<string>()

      const get = Effect.fnUntraced(function* (name: string) {
        const entry = entries.get(name)
        if (entry !== undefined) return entry.connection
        return yield* new ConnectionError({
          message: `MCP server "${name}" not connected`,
          serverName: name,
          transport: "unknown",
        })
      })

      const establish = (config: MCPServerConfig) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const link = yield* restore(openLink({ config, ports, limits, settings, environment })).pipe(
              Effect.mapError((fault) => {
                const why = new MCPUnreachable(fault, config)
                return connectionError(config, `Failed to connect to MCP server "${config.name}": ${why.words}`, why)
              }),
            )
            const own = yield* Scope.fork(scope)
            yield* Scope.addFinalizer(
              own,
              Effect.suspend(() => link.connection?.close ?? Effect.void),
            )
            yield* Effect.forkIn(Effect.interruptible(maintainLink(link)), own)
            const permits = yield* Semaphore.make(config.concurrency ?? settings.concurrency)
            const connection = connectionOf(link, permits)
            entries.set(config.name, { link, connection, end: Scope.close(own, Exit.void) })
            return connection
          }),
        )

      const connect: MCPClient["Service"]["connect"] = Effect.fn("MCPClient.connect")(function* (given) {
        const version = given.protocolVersion ?? limits.protocolVersion
        const config = version === undefined ? given : { ...given, protocolVersion: version }
        yield* checkMCPServerConfig(config)
        if (version !== undefined && !knownVersions.includes(version))
          return yield* connectionError(
            config,
            `MCP version ${version} is not supported. Supported: ${knownVersions.join(", ")}`,
          )
        const there = entries.get(config.name)
        if (busy.has(config.name) || (there !== undefined && there.link.status !== "disconnected"))
          return yield* connectionError(config, `MCP server "${config.name}" is connected already; disconnect it first`)
        busy.add(config.name)
        const connection = yield* Effect.ensuring(
          establish(config),
          Effect.sync(() => busy.delete(config.name)),
        )
        const { tools } = yield* connection.server
        yield* ports.onEvent({ type: "tools.mcp-connected", payload: { serverName: config.name, tools } })
        return connection
      })

      const disconnect: MCPClient["Service"]["disconnect"] = Effect.fn("MCPClient.disconnect")(function* (name) {
        yield* get(name)
        const { end, link } = entries.get(name)!
        if (link.status === "disconnected")
          return yield* connectionError(link.options.config, `MCP server "${name}" is disconnected already`)
        link.status = "disconnected"
        yield* Effect.uninterruptible(end)
        Object.assign(link, {
          status: "disconnected",
          connection: undefined,
          tools: new Map(),
          why: "it was disconnected",
        })
        yield* ports.onEvent({ type: "tools.mcp-disconnected", payload: { serverName: name } })
      })

      return MCPClient.of({
        connect,
        disconnect,
        get,
        list: Effect.sync(() => [...entries.values()].map(({ link }) => serverOf(link))),
        callTool: (server, ...call) => Effect.flatMap(get(server), (connection) => connection.callTool(...call)),
      })
    }),
  )
}
