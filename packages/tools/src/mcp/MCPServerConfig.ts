/** How to reach one MCP server: what a person configures, before anything is started or connected. */
import { MCPConnectionError, MCPTransport } from "@stoa/contract"
import { Effect, Schema } from "effect"

const MCPServerConfigSchema = Schema.Struct({
  name: Schema.String,
  transport: MCPTransport,
  /** For every transport but stdio. */
  endpoint: Schema.optionalKey(Schema.String),
  /** For stdio. */
  command: Schema.optionalKey(Schema.String),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Added to the small environment every server gets; nothing else of our environment is passed on. */
  env: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  cwd: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** Absent: all of them. The others are neither shown nor callable. */
  allowedTools: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Absent: the newest that both sides support (X-55). Seed 004's own is 2024-11-05. */
  protocolVersion: Schema.optionalKey(Schema.String),
  /** How long a relayed request may show no sign of life. Absent: as long as any request may. */
  silenceMs: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** The most requests under way at once; the others wait. */
  concurrency: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
})
export type MCPServerConfig = typeof MCPServerConfigSchema.Type

const schemes: Record<MCPTransport, ReadonlyArray<string>> = {
  stdio: [],
  sse: ["http:", "https:"],
  "streamable-http": ["http:", "https:"],
  websocket: ["ws:", "wss:"],
}

/** What is missing or contradictory, in words; undefined if connecting can be tried. */
export const faultOfMCPServerConfig = (config: MCPServerConfig): string | undefined => {
  if (config.name === "") return "it has no name"
  if (config.name.includes("/")) return `the name "${config.name}" has a slash, which parts a server from its tools`
  if (config.transport === "stdio") return config.command ? undefined : "stdio needs a command"
  if (!config.endpoint) return `${config.transport} needs an endpoint`
  const url = URL.canParse(config.endpoint) ? new URL(config.endpoint) : undefined
  const wanted = schemes[config.transport]
  return url !== undefined && wanted.includes(url.protocol)
    ? undefined
    : `${config.transport} needs an endpoint that starts with ${wanted.map((it) => `${it}//`).join(" or ")}`
}

export const checkMCPServerConfig = (config: MCPServerConfig): Effect.Effect<void, MCPConnectionError> =>
  Effect.suspend(() => {
    const fault = faultOfMCPServerConfig(config)
    if (fault === undefined) return Effect.void
    return new MCPConnectionError({
      message: `The MCP server "${config.name}" cannot be reached as it is described: ${fault}`,
      serverName: config.name,
      transport: config.transport,
    })
  })

/** Identifies a server and its address: what is remembered about it is valid only for this. */
export const keyOfMCPServer = (config: MCPServerConfig): string =>
  JSON.stringify([config.name, config.transport, config.endpoint ?? config.command, config.args ?? []])
