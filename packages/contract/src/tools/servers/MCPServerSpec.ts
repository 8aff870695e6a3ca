/**
 * How to reach an MCP server: a program to start, or an address. In the form of other MCP clients, with our additions.
 */
import { Schema } from "effect"
import { placeholdersIn } from "../Placeholder.ts"

/** It is put before each of its tools (`server/tool`, on the wire `server__tool`), so it contains neither separator. */
export const MCPServerName = Schema.String.check(
  Schema.isPattern(/^(?!srv_[0-9a-f]{8}-)[A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*$/, {
    message: "must be a server's name of letters, digits, - and single _, beginning with a letter or digit",
  }),
  Schema.isMaxLength(40),
)

/** A name, or an id if an agent's own server has the same name as another's. */
export const MCPServerRef = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))

const Text = (most: number) =>
  Schema.String.check(
    Schema.isMaxLength(most),
    Schema.makeFilter((text) => (text.isWellFormed() && !text.includes("\0")) || "must be well-formed text"),
  )
const HeaderName = Schema.String.check(Schema.isPattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/))
// A line break would end the header and start another one.
const HeaderValue = Text(8192).check(
  Schema.isPattern(/^[^\r\n]*$/, { message: "must be a header without line breaks" }),
)
const VariableName = Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/))

/** `${secret.NAME}` and `${env.NAME}` in them are filled in when the server is connected, and never shown. */
const filled = Schema.makeFilter((text: string) => {
  const read = placeholdersIn(text)
  return "parts" in read || read.fault
})
const Headers = Schema.Record(HeaderName, HeaderValue.check(filled))
const Variables = Schema.Record(VariableName, Text(32_768).check(filled))
/** Clients use different words for Streamable HTTP. */
const HttpTransport = Schema.Literals(["http", "streamable-http", "sse"])
const ToolNames = Schema.Array(Text(256).check(Schema.isMinLength(1))).check(Schema.isMaxLength(1000))

/**
 * Whether a changed definition is held until somebody accepts it, or accepted at once. The first definition is always
 * accepted.
 */
export const ToolReview = Schema.Literals(["hold", "trust"])
export type ToolReview = typeof ToolReview.Type

/** How long a call may run without a sign of life. Progress counts as one. Absent: 30. */
const TimeoutSeconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 }))

const reach = {
  command: Schema.optionalKey(Text(4096).check(Schema.isMinLength(1))),
  args: Schema.optionalKey(Schema.Array(Text(32_768)).check(Schema.isMaxLength(256))),
  env: Schema.optionalKey(Variables),
  url: Schema.optionalKey(Text(4096).check(Schema.isMinLength(1))),
  headers: Schema.optionalKey(Headers),
  transport: Schema.optionalKey(Schema.Literals([...HttpTransport.literals, "websocket", "stdio"])),
}
const kept = {
  /** Absent or empty: all of them. The others are neither shown nor callable. */
  allowedTools: Schema.optionalKey(ToolNames),
  review: Schema.optionalKey(ToolReview),
  timeoutSeconds: Schema.optionalKey(TimeoutSeconds),
}

const fields = Schema.Struct({ ...reach, ...kept })
export type MCPServerSpec = typeof fields.Type

const schemesOf = (transport: MCPServerSpec["transport"]) =>
  transport === "websocket"
    ? ["ws:", "wss:"]
    : transport === undefined
      ? ["http:", "https:", "ws:", "wss:"]
      : ["http:", "https:"]

/** What is no program's name: a text or an address that was put where a command belongs. Nothing is run of it. */
const commandFault = (command: string): string | undefined => {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(command)) return "is an address: give it as url"
  if (/\p{Cc}/u.test(command)) return "must be a program's name or path, in one line"
  if (/^\s*(?:---|[{[<"'#]|[^\s/\\]+:(?:\s|$))/.test(command))
    return "is a text and no program; an OpenAPI description is imported with POST /api/v1/tools/import"
  return undefined
}

/** What no single field shows: exactly one way to reach it, completely described. */
const faultOf = (it: MCPServerSpec): true | { readonly path: ReadonlyArray<string>; readonly issue: string } => {
  const fault = (path: string, issue: string) => ({ path: [path], issue })
  if ((it.command === undefined) === (it.url === undefined))
    return fault("command", "give either command or url, not both")
  const stray = (it.command === undefined ? (["args", "env"] as const) : (["headers"] as const)).find(
    (key) => it[key] !== undefined,
  )
  if (stray !== undefined)
    return fault(stray, it.command === undefined ? "is allowed only with command" : "is allowed only with url")
  const noCommand = it.command === undefined ? undefined : commandFault(it.command)
  if (noCommand !== undefined) return fault("command", noCommand)
  if (it.command !== undefined)
    return (
      it.transport === undefined ||
      it.transport === "stdio" ||
      fault("transport", "must be stdio or absent if command is given")
    )
  if (it.transport === "stdio") return fault("transport", "must not be stdio if url is given")
  const url = URL.canParse(it.url!) ? new URL(it.url!) : undefined
  const schemes = schemesOf(it.transport)
  if (url === undefined || !schemes.includes(url.protocol))
    return fault("url", `must be an address that starts with ${schemes.map((one) => `${one}//`).join(" or ")}`)
  if (url.username !== "" || url.password !== "")
    return fault("url", "must not contain a name and password: send them in a header")
  return true
}

const whole = Schema.makeFilter(faultOf)

export const NewMCPServer = Schema.Struct({ name: MCPServerName, ...reach, ...kept })
  .check(whole)
  .annotate({ identifier: "NewMCPServer" })
export type NewMCPServer = typeof NewMCPServer.Type

/** What other clients call `transport`, in their words. */
const types = {
  stdio: "stdio",
  http: "http",
  streamableHttp: "http",
  "streamable-http": "http",
  sse: "sse",
  ws: "websocket",
  websocket: "websocket",
} as const
const ServerType = Schema.Literals(Object.keys(types) as ReadonlyArray<keyof typeof types>)

/** An entry of the configuration file's `mcpServers`, in the form of other clients. */
export const DeclaredMCPServer = Schema.Struct({ ...reach, ...kept, type: Schema.optionalKey(ServerType) }).check(
  Schema.makeFilter((it) =>
    it.type !== undefined && it.transport !== undefined
      ? { path: ["type"], issue: "give either type or transport, not both" }
      : faultOf(specOf(it)),
  ),
)
export type DeclaredMCPServer = typeof DeclaredMCPServer.Type

export const specOf = ({ type, ...spec }: DeclaredMCPServer): MCPServerSpec =>
  type === undefined ? spec : { ...spec, transport: types[type] }

const noProgram = "is not allowed: an agent's own server is reached by http or sse. Declare a program under mcpServers"
/** An agent's own server (`mcp.servers`): only an address, nothing that runs here (S1-85, X-58). */
export const OwnMCPServer = Schema.Struct({
  name: MCPServerName,
  url: Text(4096).check(
    Schema.makeFilter(
      (text) =>
        (/^https?:/i.test(text) && URL.canParse(text) && new URL(text).username + new URL(text).password === "") ||
        "must be an address that starts with http:// or https://, without a name and password",
    ),
  ),
  transport: Schema.optionalKey(
    HttpTransport.annotate({ message: `must be http or sse, not stdio: declare a program under mcpServers` }),
  ),
  headers: Schema.optionalKey(Headers),
  allowedTools: Schema.optionalKey(ToolNames),
  review: Schema.optionalKey(ToolReview),
  timeoutSeconds: Schema.optionalKey(TimeoutSeconds),
  command: Schema.optionalKey(Schema.Never.annotate({ message: noProgram })),
})
export type OwnMCPServer = typeof OwnMCPServer.Type
