/**
 * What a request says: the endpoint that its path names (`/mcp`, `/mcp/<toolset>`, `/mcp/servers/<name>`, and seed
 * 002's
 * `/mcp/jsonrpc`, X-59), the JSON-RPC message in its body, and the era that the message belongs to. The body is
 * authoritative and the header a cross-check. All of it is decided before a stream is opened: afterwards no status can
 * be sent.
 */
import { bodyFault, hasNul } from "../../node/Body.ts"
import { type JsonObject, type Endpoint, type LogLevel, logLevels } from "../desk/Desk.ts"
import { codes, Fault } from "./Fault.ts"
import { isNewEra, isOldRevision, newRevision, servedRevisions } from "./revision.ts"

export interface EndpointAddress {
  readonly endpoint: Endpoint
  /** A text that identifies the endpoint: sessions and sealed states are bound to it. */
  readonly key: string
  /** Also answers requests without a token, with what the crossroads context may see. */
  readonly open: boolean
  /** What it has none of is an empty list, not an unknown method (S2-73). */
  readonly listsNothing?: true
}

const all: EndpointAddress = { endpoint: { kind: "all" }, key: "all", open: false }
const engrams: EndpointAddress = {
  endpoint: { kind: "toolset", name: "engrams", anyway: true },
  key: "jsonrpc",
  open: true,
  listsNothing: true,
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export const placeOf = (path: string): EndpointAddress | undefined => {
  if (path === "/mcp" || path === "/mcp/") return all
  if (path === "/mcp/jsonrpc") return engrams
  if (!path.startsWith("/mcp/")) return undefined
  const parts = path.slice(5).split("/")
  const name = decoded(parts.at(-1)!)
  if (name === undefined || name === "" || name.length > 128) return undefined
  if (parts.length === 1) return { endpoint: { kind: "toolset", name }, key: `toolset ${name}`, open: false }
  if (parts.length !== 2 || parts[0] !== "servers") return undefined
  return { endpoint: { kind: "server", name }, key: `server ${name}`, open: false }
}

export type Id = string | number

export type Message =
  | { readonly kind: "request"; readonly id: Id; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "response"; readonly id: Id; readonly result?: JsonObject; readonly error?: unknown }
  | { readonly kind: "faulty"; readonly id: Id | undefined; readonly fault: Fault }

export type Request = Extract<Message, { readonly kind: "request" }>

/** A batch is one request for the time limits; this many messages are enough for any client we know. */
export const maxInBatch = 100

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Zero and the empty string are valid ids. */
export const isId = (value: unknown): value is Id => typeof value === "string" || Number.isSafeInteger(value)

const nothing: JsonObject = {}
const invalid = (id: Id | undefined, message: string): Message => ({
  kind: "faulty",
  id,
  fault: new Fault(codes.invalidRequest, message),
})

export const readMessage = (value: unknown): Message => {
  if (!isObject(value)) return invalid(undefined, "A message is a JSON object")
  const { error, id, method, params, result } = value
  const named = isId(id) ? id : undefined
  if (value["jsonrpc"] !== "2.0") return invalid(named, 'A message has "jsonrpc": "2.0"')
  if (typeof method !== "string") {
    if (named === undefined || (result === undefined) === (error === undefined))
      return invalid(named, "A message has a method, or an id with a result or an error")
    return isObject(result) ? { kind: "response", id: named, result } : { kind: "response", id: named, error }
  }
  if (params !== undefined && !isObject(params))
    return id === undefined
      ? invalid(undefined, "params is an object")
      : { kind: "faulty", id: named, fault: new Fault(codes.invalidParams, "params is an object") }
  const meta = params?.["_meta"]
  if (meta !== undefined && !isObject(meta))
    return { kind: "faulty", id: named, fault: new Fault(codes.invalidParams, "_meta is an object") }
  if (id === undefined) return { kind: "notification", method, params: params ?? nothing }
  if (named === undefined) return invalid(undefined, "An id is a string or an integer")
  return { kind: "request", id: named, method, params: params ?? nothing }
}

/** The whole body: one message, several, or a fault. */
export const readBody = (text: string): Message | ReadonlyArray<Message> => {
  const fault = bodyFault(text)
  if (fault !== undefined) return invalid(undefined, `The message ${fault}`)
  if (hasNul(text)) return invalid(undefined, "The message has a NUL character (\\u0000); leave it out")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: "faulty", id: undefined, fault: new Fault(codes.parse, "The body is not JSON") }
  }
  if (!Array.isArray(value)) return readMessage(value)
  if (value.length === 0 || value.length > maxInBatch)
    return invalid(undefined, `A batch has 1 to ${maxInBatch} messages`)
  return value.map(readMessage)
}

export const metaOf = (params: JsonObject): JsonObject => (params["_meta"] as JsonObject | undefined) ?? nothing

const prefix = "io.modelcontextprotocol/"
export const metaKeys = {
  revision: `${prefix}protocolVersion`,
  capabilities: `${prefix}clientCapabilities`,
  client: `${prefix}clientInfo`,
  logLevel: `${prefix}logLevel`,
  server: `${prefix}serverInfo`,
  subscription: `${prefix}subscriptionId`,
  tasks: `${prefix}tasks`,
} as const

const traceKeys = ["traceparent", "tracestate", "baggage"]
const longestTrace = 8192
/** The trace context of a request. It is passed on to the service that runs the tool; nothing else of `_meta` is. */
export const traceOf = (meta: JsonObject): JsonObject =>
  Object.fromEntries(
    traceKeys.flatMap((key) => {
      const value = meta[key]
      return typeof value === "string" && value.length <= longestTrace ? [[key, value]] : []
    }),
  )

/** What a new-era request says about its client. Valid for this request only. */
export interface Envelope {
  readonly capabilities: JsonObject
  readonly logLevel: LogLevel | undefined
}

export type Era =
  | { readonly era: "new"; readonly envelope: Envelope }
  /** `header`: the revision it names, if it names one. */
  | { readonly era: "old"; readonly header: string | undefined }
  | { readonly era: "refused"; readonly fault: Fault }

const refused = (code: number, message: string, data?: unknown): Era => ({
  era: "refused",
  fault: new Fault(code, message, data),
})
const noEnvelope: Envelope = { capabilities: {}, logLevel: undefined }

export const eraOf = (header: string | undefined, message: Message): Era => {
  const meta = message.kind === "request" || message.kind === "notification" ? metaOf(message.params) : {}
  const claim = meta[metaKeys.revision]
  const newHeader = header !== undefined && isNewEra(header)
  if (claim === undefined) {
    if (newHeader)
      return message.kind === "request"
        ? refused(codes.invalidParams, `_meta["${metaKeys.revision}"] is missing`)
        : { era: "new", envelope: noEnvelope }
    if (header !== undefined && !isOldRevision(header)) return unsupported(header)
    return { era: "old", header }
  }
  if (message.kind === "notification" && !newHeader) return { era: "old", header }
  const fault = incomplete(meta)
  if (fault !== undefined) return { era: "refused", fault }
  if (header !== claim)
    return refused(
      codes.headerMismatch,
      header === undefined
        ? "The header MCP-Protocol-Version is missing"
        : `MCP-Protocol-Version says ${JSON.stringify(header)} and _meta says ${JSON.stringify(claim)}`,
    )
  if (claim !== newRevision) return unsupported(claim as string)
  return {
    era: "new",
    envelope: {
      capabilities: meta[metaKeys.capabilities] as JsonObject,
      logLevel: meta[metaKeys.logLevel] as LogLevel | undefined,
    },
  }
}

const unsupported = (requested: string): Era =>
  refused(codes.unsupportedVersion, `Protocol version ${JSON.stringify(requested)} is not served in this way`, {
    supported: servedRevisions,
    requested,
  })

const incomplete = (meta: JsonObject): Fault | undefined => {
  const missing = (key: string, what: string) => new Fault(codes.invalidParams, `_meta["${key}"] is ${what}`)
  if (typeof meta[metaKeys.revision] !== "string") return missing(metaKeys.revision, "a string")
  if (!isObject(meta[metaKeys.capabilities])) return missing(metaKeys.capabilities, "an object")
  const client = meta[metaKeys.client]
  if (client !== undefined && !(isObject(client) && typeof client["name"] === "string"))
    return missing(metaKeys.client, "an object with name and version")
  const level = meta[metaKeys.logLevel]
  if (level !== undefined && !(logLevels as ReadonlyArray<unknown>).includes(level))
    return missing(metaKeys.logLevel, `one of ${logLevels.join(", ")}`)
  return undefined
}

/** Whether a client declares a capability. */
export const declares = (capabilities: JsonObject, ...path: ReadonlyArray<string>): boolean => {
  let at: unknown = capabilities
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return false
    at = at[key]
  }
  return isObject(at)
}

export const knowsTasks = (capabilities: JsonObject): boolean => declares(capabilities, "extensions", metaKeys.tasks)
export const tasksNeeded: JsonObject = { extensions: { [metaKeys.tasks]: {} } }
