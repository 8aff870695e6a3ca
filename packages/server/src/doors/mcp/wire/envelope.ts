/**
 * Which era a message belongs to, and whether it says so properly (2026-07-28: in `_meta` and again in a header). The body
 * is the truth and the header a cross-check. Everything here is decided before a stream is opened: afterwards no status
 * could be sent any more.
 */
import { type LogLevel, logLevels, type JsonObject } from "../desk/Desk.ts"
import { codes, Fault } from "./Fault.ts"
import { isObject, type Message, metaOf } from "./message.ts"
import { isNewEra, isOldRevision, newRevision, servedRevisions } from "./revision.ts"

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

/** Reserved for the hop (a label of its prefix is `modelcontextprotocol` or `mcp`): never passed on. */
export const isReserved = (key: string): boolean => /^(?:[^/]*\.)?(?:modelcontextprotocol|mcp)(?:\.[^/]*)?\//.test(key)

const traceKeys = ["traceparent", "tracestate", "baggage"]
const longestTrace = 8192
/** The trace context of a request. It goes on to whoever runs the tool; nothing else of `_meta` does. */
export const traceOf = (meta: JsonObject): JsonObject =>
  Object.fromEntries(
    traceKeys.flatMap((key) => {
      const value = meta[key]
      return typeof value === "string" && value.length <= longestTrace ? [[key, value]] : []
    }),
  )

/** What a request of the new era says about its client. It holds for this request and no other. */
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
