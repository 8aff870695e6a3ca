/**
 * What can go wrong between us and a server, sorted by its consequences: may it be repeated, may the call have acted,
 * is the connection gone. The SDK throws a dozen classes; nothing outside this folder should know them.
 */
import {
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from "@modelcontextprotocol/client"
import { MCPConnectionError } from "@stoa/contract"
import { Option, Schema } from "effect"
import type { MCPServerConfig } from "../MCPServerConfig.ts"

export interface MCPFault {
  readonly kind:
    | "answered" // The server refused, in the protocol's own form.
    | "timeout"
    | "lost" // The connection is gone, or never existed.
    | "failed" // This request failed; it says nothing about others on the connection.
    | "unauthorized"
    | "refused" // HTTP refused it: repeating it changes nothing.
    | "unreadable" // The answer was unreadable.
    | "version"
  readonly message: string
  readonly code?: number
  readonly data?: unknown
  readonly status?: number | undefined
  /** It is certain that the request had no effect. */
  readonly unheard?: boolean
  /** Of a program: the end of its stderr, and whether it could not be started at all. */
  readonly stderr?: string
  readonly unstartable?: boolean
  /** How long was waited for an answer. */
  readonly afterMs?: number
  readonly cause: unknown
}

/** Texts of a server are shown to people and models, so they are cut. */
export const short = (text: string, most = 2000): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** `fetch failed` says nothing; the reason is one or two levels down. */
const words = (error: unknown): string => {
  const said: Array<string> = []
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++)
    if (!said.some((it) => it.includes(at.message))) said.push(at.message)
  return short(said.length === 0 ? String(error) : said.join(": "))
}

const lostCodes: ReadonlyArray<string> = [
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
]

type As = (kind: MCPFault["kind"], more?: Partial<MCPFault>) => MCPFault

const RpcError = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      error: Schema.Struct({
        code: Schema.Finite,
        message: Schema.String,
        data: Schema.optionalKey(Schema.Unknown),
      }),
    }),
  ),
)

/** Servers put protocol errors into HTTP errors; then the inner error counts more than the status. */
const ofHttp = (error: SdkHttpError, as: As): MCPFault => {
  const { status, text } = error.data
  const inner = typeof text === "string" ? Option.getOrUndefined(RpcError(text))?.error : undefined
  // An unknown session: the server was restarted, so we start a new session. Nothing was executed.
  if ((status === 404 && inner?.code !== -32601) || (status === 400 && /session/i.test(inner?.message ?? "")))
    return as("lost", { status, unheard: true })
  if (inner !== undefined) return as("answered", { ...inner, status, message: short(inner.message) })
  if (status === undefined || status >= 500) return as("failed", { status })
  return as(status === 401 || status === 403 ? "unauthorized" : "refused", { status })
}

export const faultOf = (error: unknown): MCPFault => {
  const message = words(error)
  const as: As = (kind, more = {}) => ({ kind, message, cause: error, ...more })
  if (error instanceof UnauthorizedError || error instanceof OAuthError) return as("unauthorized")
  if (error instanceof ProtocolError) return as("answered", { code: error.code, data: error.data })
  if (error instanceof SdkHttpError) return ofHttp(error, as)
  if (error instanceof SseError) {
    if (error.code === 401 || error.code === 403) return as("unauthorized", { status: error.code })
    return as(error.code !== undefined && error.code < 500 ? "refused" : "lost", { status: error.code })
  }
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) return as("timeout")
    if (lostCodes.includes(error.code)) return as("lost")
    // After the method it lists every way in which nothing matches.
    if (error.code === SdkErrorCode.InvalidResult)
      return as("unreadable", { message: message.replace(/: \[\s*\{[\s\S]*$/, "") })
    if (error.code === SdkErrorCode.ClientHttpUnexpectedContent) return as("unreadable")
    if (error.code === SdkErrorCode.EraNegotiationFailed)
      return as(/pinned|no modern overlap/.test(message) ? "version" : "lost")
    return as("refused")
  }
  if (/protocol version is not supported/.test(message)) return as("version")
  if (error instanceof Error && error.name === "AuthSeamEscape") return as("unauthorized")
  if (
    error instanceof Error &&
    (error.name === "ZodError" || error.name === "$ZodError" || error instanceof SyntaxError)
  )
    return as("unreadable")
  if (/OAuth|authorization|issuer|client registration/i.test(error instanceof Error ? error.name : ""))
    return as("unauthorized")
  return as(isOfNetwork(error) ? "lost" : "failed")
}

const unreached = ["fetch failed", "terminated", "Not connected"]
/** An error of the platform with its own code, not an error that came over the network. */
const isOfNetwork = (error: unknown): boolean => {
  // The guarded fetch reports that it cannot reach the server.
  if (error instanceof MCPConnectionError) return true
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++)
    if (("code" in at && typeof at.code === "string") || unreached.includes(at.message)) return true
  return false
}

const cured: ReadonlyArray<MCPFault["kind"]> = ["timeout", "lost", "failed"]

/** Retrying cures nothing else. */
export const isFinal = (fault: MCPFault): boolean => !cured.includes(fault.kind)

export const connectionError = (
  config: Pick<MCPServerConfig, "name" | "transport">,
  message: string,
  cause?: unknown,
): MCPConnectionError =>
  new MCPConnectionError({
    message,
    serverName: config.name,
    transport: config.transport,
    ...(cause === undefined ? {} : { cause }),
  })
