/**
 * Why a server could not be reached, for a person: what is wrong and what to do next. The words of the SDK and of the
 * platform are the detail, for a log.
 */
import { SdkHttpError } from "@modelcontextprotocol/client"
import type { MCPConnectionError } from "@stoa/contract"
import type { MCPServerConfig } from "../MCPServerConfig.ts"
import type { MCPFault } from "./faults.ts"

type Place = Pick<MCPServerConfig, "transport" | "command" | "endpoint">

export class MCPUnreachable extends Error {
  override readonly name = "MCPUnreached"
  /** What failed: the program, the address, signing in, or the protocol. */
  readonly step: "program" | "address" | "sign-in" | "protocol"
  /** One or two plain sentences; the first begins with a small letter. */
  readonly words: string
  /** In the words of the SDK and the platform. */
  readonly detail: string

  constructor(fault: MCPFault, place: Place) {
    super(fault.message, { cause: fault.cause })
    const { step, words } = place.transport === "stdio" ? ofProgram(fault, place) : ofAddress(fault, place)
    this.step = step
    this.words = words
    this.detail = fault.message
  }
}

type Told = Pick<MCPUnreachable, "step" | "words">

/** Without its query, which may hold a key. */
const shown = (endpoint: string): string => {
  const url = URL.parse(endpoint)
  return url === null ? endpoint : `${url.protocol}//${url.host}${url.pathname}`
}

/** The codes and messages of an error and of what caused it. */
const traces = (error: unknown): string => {
  const said: Array<string> = []
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    said.push(`${at.name} ${"code" in at ? String(at.code) : ""} ${at.message}`)
  return said.join("\n")
}

/** A failure with a message of our own. Unlike with a MCPConnectionError, the server may have received the request. */
export class PlainFailure extends Error {
  override readonly name = "PlainFailure"
}

/** Words of our own, such as those of the guarded fetch: they are plain already. */
const ownWords = (error: unknown): string | undefined => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof PlainFailure || ("_tag" in at && at._tag === "MCPConnectionError")) return at.message
  return undefined
}

const ofProgram = (fault: MCPFault, { command = "" }: Place): Told => {
  const quote = fault.stderr === undefined || fault.stderr === "" ? "" : `. It said: ${fault.stderr}`
  if (fault.unstartable === true)
    return {
      step: "program",
      words: `the program "${command}" was not found, or may not be run. Give its full path`,
    }
  switch (fault.kind) {
    case "timeout":
      return { step: "protocol", words: `the program ${late(fault)}. Is it an MCP server?${quote.replace(/^\./, "")}` }
    case "answered":
      return { step: "protocol", words: `the program refused to begin: ${fault.message}` }
    case "version":
      return { step: "protocol", words: otherVersion(fault) }
    case "unreadable":
      return { step: "protocol", words: ownWords(fault.cause) ?? `the program answers, but does not speak MCP${quote}` }
    default:
      return {
        step: "program",
        words: `the program ended before it answered${quote === "" ? ", and said nothing. Run it by hand to see why" : quote}`,
      }
  }
}

const span = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`)
const late = ({ afterMs }: MCPFault): string =>
  afterMs === undefined ? "did not answer in time" : `did not answer within ${span(afterMs)}`
const otherVersion = ({ message }: MCPFault): string => {
  const [said] = /\b\d{4}-\d{2}-\d{2}\b/.exec(message) ?? []
  return `it supports no version of MCP that is supported here${said === undefined ? "" : ` (it says ${said})`}`
}

/** By the codes of the platform; the first that fits. */
const ofNetwork: ReadonlyArray<readonly [RegExp, (at: string) => string]> = [
  [/ECONNREFUSED/, (at) => `nothing answers at ${at}. Is the server running, and is the address correct?`],
  [/ENOTFOUND|EAI_AGAIN/, (at) => `the host of ${at} has no address. Check how it is spelled`],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, (at) => `${at} cannot be reached. Check the address and the network`],
  [
    /EPROTO|ERR_SSL/,
    (at) => `there is no encrypted connection to ${at}. Perhaps its address begins with http:// instead of https://`,
  ],
  [
    /CERT|UNABLE_TO_VERIFY/,
    (at) => `the certificate of ${at} is not accepted: it has expired, is for another name, or nobody known signed it`,
  ],
  [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|socket hang up/,
    (at) => `${at} closes the connection without an answer. Is it the address of an MCP server?`,
  ],
]

const ofAddress = (fault: MCPFault, { endpoint = "", transport }: Place): Told => {
  const at = shown(endpoint)
  const { kind, status } = fault
  const http = status === undefined || status < 400 ? "" : ` (HTTP ${status})`
  if (kind === "unauthorized" && fault.afterMs !== undefined)
    return { step: "sign-in", words: `${at} wants a person to sign in, and nobody did within ${span(fault.afterMs)}` }
  if (kind === "unauthorized")
    return { step: "sign-in", words: `${at} wants a credential, or refused the one it was given${http}` }
  if (kind === "timeout")
    return {
      step: "address",
      words: `${at} ${late(fault)}. Is it the address of an MCP server, and is the server well?`,
    }
  if (kind === "version") return { step: "protocol", words: otherVersion(fault) }
  if (kind === "answered") return { step: "protocol", words: `${at} refused to begin: ${fault.message}` }
  const own = ownWords(fault.cause)
  if (own !== undefined) return { step: "address", words: own }
  if (status !== undefined && status >= 500)
    return { step: "protocol", words: `${at} answers with an error of its own${http}. Look at the log of that server` }
  const text = traces(fault.cause)
  const found = status === undefined ? ofNetwork.find(([code]) => code.test(text)) : undefined
  if (found !== undefined) return { step: "address", words: found[1](at) }
  if (transport === "websocket")
    return {
      step: "address",
      words: `there is no WebSocket connection to ${at}. Is the server running, and does it speak MCP over WebSocket?`,
    }
  if (status !== undefined)
    return {
      step: status === 404 ? "address" : "protocol",
      words: `${at} answers, but not as an MCP server does${http}. Check the path of the address; often it is /mcp`,
    }
  if (kind === "unreadable" || kind === "refused" || noMCP.test(text))
    return {
      step: "protocol",
      words: `${at} answers, but does not speak MCP. Check the path of the address; often it is /mcp`,
    }
  return { step: "address", words: `${at} could not be reached. Check the address, and whether the server is running` }
}

/** An answer that is no message of MCP. */
const noMCP = /ZodError|SyntaxError|CLIENT_HTTP_UNEXPECTED_CONTENT/

/** The answers by which a server with the oldest transport refuses the newer one. */
export const isOldHttp = ({ cause }: MCPConnectionError): boolean => {
  const first = cause instanceof MCPUnreachable ? cause.cause : cause
  return first instanceof SdkHttpError && [400, 404, 405].includes(first.data.status ?? 0)
}
