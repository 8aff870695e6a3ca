/**
 * Finds servers in the configuration files of other MCP clients: `{"mcpServers": {"name": {"command", "args",
 * "env"}}}`, or a
 * `url` with `headers`. Faults are named by their path; each server is reported; a dead one does not stop the others.
 */
import { type MCPConnectionError, type MCPServer, MCPTransport } from "@stoa/contract"
import { Effect, Schema, SchemaIssue } from "effect"
import { isOldHttp } from "./MCPUnreachable.ts"
import { MCPClient } from "./MCPClient.ts"
import { faultOfMCPServerConfig, type MCPServerConfig } from "../MCPServerConfig.ts"
import { readText } from "../transport/readText.ts"

const Texts = Schema.Record(Schema.String, Schema.String)

const MCPServerEntry = Schema.Struct({
  command: Schema.optionalKey(Schema.String),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  env: Schema.optionalKey(Texts),
  cwd: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Texts),
  /** Clients use different words for Streamable HTTP. */
  type: Schema.optionalKey(Schema.Literals([...MCPTransport.literals, "http", "streamableHttp", "ws"])),
  disabled: Schema.optionalKey(Schema.Boolean),
  allowedTools: Schema.optionalKey(Schema.Array(Schema.String)),
  protocolVersion: Schema.optionalKey(Schema.String),
})
type MCPServerEntry = typeof MCPServerEntry.Type

interface MCPServersFault {
  readonly path: string
  readonly message: string
}

export interface MCPServersFound {
  readonly servers: ReadonlyArray<MCPServerConfig>
  /** Declared, but switched off there. */
  readonly disabled: ReadonlyArray<string>
  readonly faults: ReadonlyArray<MCPServersFault>
  /** Configured by a URL alone: if Streamable HTTP is refused, the older transport is tried. */
  readonly guessed: ReadonlySet<string>
}

const transportOf = ({ type, url }: MCPServerEntry): MCPTransport => {
  if (type === "http" || type === "streamableHttp") return "streamable-http"
  if (type === "ws") return "websocket"
  if (type !== undefined) return type
  if (url === undefined) return "stdio"
  return /^wss?:/.test(url) ? "websocket" : "streamable-http"
}

const configOf = (name: string, entry: MCPServerEntry): MCPServerConfig => {
  const { disabled: _disabled, type: _type, url, ...rest } = entry
  return { name, transport: transportOf(entry), ...rest, ...(url === undefined ? {} : { endpoint: url }) }
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()
const pathOf = (parts: ReadonlyArray<unknown>) =>
  parts.map((part) => String(typeof part === "object" && part !== null && "key" in part ? part.key : part)).join(".")

/** Parses a configuration with `mcpServers`, or the object under that key. Starts nothing. */
export const readMCPServers = (value: unknown): MCPServersFound => {
  const found = { servers: [] as Array<MCPServerConfig>, disabled: [] as Array<string>, guessed: new Set<string>() }
  const faults: Array<MCPServersFault> = []
  const isObject = (it: unknown): it is Record<string, unknown> =>
    typeof it === "object" && it !== null && !Array.isArray(it)
  const declared = isObject(value) && "mcpServers" in value ? value["mcpServers"] : value
  if (!isObject(declared))
    return { ...found, faults: [{ path: "mcpServers", message: "must be an object of servers" }] }
  for (const [name, raw] of Object.entries(declared)) {
    const at = `mcpServers.${name}`
    const decoded = Schema.decodeUnknownResult(MCPServerEntry)(raw, { errors: "all" })
    if (decoded._tag === "Failure") {
      const { issues } = issuesOf(decoded.failure.issue)
      faults.push(...issues.map((it) => ({ path: pathOf([at, ...(it.path ?? [])]), message: it.message })))
      continue
    }
    const entry = decoded.success
    const config = configOf(name, entry)
    const both = entry.command !== undefined && entry.url !== undefined
    const fault = both ? "it has a command and a url; one of them is meant" : faultOfMCPServerConfig(config)
    if (fault !== undefined) faults.push({ path: at, message: fault })
    else if (entry.disabled === true) found.disabled.push(name)
    else {
      found.servers.push(config)
      if (entry.url !== undefined && entry.type === undefined) found.guessed.add(name)
    }
  }
  return { ...found, faults }
}

export type MCPDiscoveredServer =
  | { readonly name: string; readonly outcome: "connected"; readonly server: MCPServer }
  | { readonly name: string; readonly outcome: "failed"; readonly error: MCPConnectionError }
  | { readonly name: string; readonly outcome: "disabled" }

export interface MCPDiscovery {
  readonly servers: ReadonlyArray<MCPDiscoveredServer>
  readonly faults: ReadonlyArray<MCPServersFault>
}

const connectGuessed = (mcp: MCPClient["Service"], config: MCPServerConfig, guessed: boolean) =>
  Effect.catchIf(
    mcp.connect(config),
    (error) => guessed && config.transport === "streamable-http" && isOldHttp(error),
    (error) => Effect.mapError(mcp.connect({ ...config, transport: "sse" }), () => error),
  )

/** Servers that start at once: enough to be quick, few enough for a small machine. */
const atOnce = 8

/** Connects to every server that the configuration declares. It does not fail: errors are in the report. */
export const discoverMCPServers = Effect.fn("MCPDiscovery.discover")(function* (value: unknown) {
  const mcp = yield* MCPClient
  const { disabled, faults, guessed, servers } = readMCPServers(value)
  const tried = yield* Effect.forEach(
    servers,
    (config) =>
      connectGuessed(mcp, config, guessed.has(config.name)).pipe(
        Effect.flatMap((connection) => connection.server),
        Effect.match({
          onSuccess: (server): MCPDiscoveredServer => ({ name: config.name, outcome: "connected", server }),
          onFailure: (error): MCPDiscoveredServer => ({ name: config.name, outcome: "failed", error }),
        }),
      ),
    { concurrency: atOnce },
  )
  const off = disabled.map((name): MCPDiscoveredServer => ({ name, outcome: "disabled" }))
  const report: MCPDiscovery = { servers: [...tried, ...off], faults }
  return report
})

/** The same from a configuration file of another client. */
export const discoverMCPServersIn = Effect.fn("MCPDiscovery.discoverIn")(function* (file: string) {
  const unreadable = (message: string): MCPDiscovery => ({ servers: [], faults: [{ path: file, message }] })
  const text = yield* Effect.result(readText(file))
  if (text._tag === "Failure") return unreadable(`could not be read: ${text.failure}`)
  const parsed = yield* Effect.result(Effect.try({ try: () => JSON.parse(text.success) as unknown, catch: String }))
  if (parsed._tag === "Failure") return unreadable(`is not JSON: ${parsed.failure}`)
  return yield* discoverMCPServers(parsed.success)
})
