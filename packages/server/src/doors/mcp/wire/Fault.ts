/** A JSON-RPC error for a client, with the codes of MCP. */
import { Unauthenticated } from "@stoa/contract"
import { nearest } from "@stoa/tools"

export const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Old revisions only. */
  resourceMissing: -32002,
  /** 2026-07-28 only. */
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** A class and not an Error: it is an answer, and needs no stack. */
export class Fault {
  readonly _tag = "Fault"
  readonly code: number
  readonly message: string
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    this.code = code
    this.message = message
    this.data = data
  }
}

export const invalidParams = (message: string, data?: unknown): Fault => new Fault(codes.invalidParams, message, data)

/** Hidden and unknown tools look the same (X-30); the suggestion is one of the listed tools. */
export const unknownTool = (name: string, listed: Iterable<string> = []): Fault => {
  const meant = nearest(name, listed)
  return invalidParams(`Unknown tool: ${name.slice(0, 200)}${meant === undefined ? "" : `. Did you mean "${meant}"?`}`)
}

/** The token of a request ended while it waited: refused as a new request would be, in the words of JSON-RPC. */
export const tokenEnded = new Fault(codes.invalidRequest, new Unauthenticated({ reason: "refused" }).message)
