/**
 * A request to a server as somebody else made it, and the answer unchanged: what a gateway needs. The server's
 * questions go back to the requester, because only it knows who could answer.
 */
import type { LoggingLevel, Progress } from "@modelcontextprotocol/client"
import type { Effect } from "effect"

type JsonObject = Readonly<Record<string, unknown>>

/** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface MCPQuestion {
  readonly method: string
  readonly params: JsonObject
}

/** A refusal in the protocol's own form. */
export class MCPRefused {
  readonly _tag = "MCPRefused"
  readonly code: number
  readonly message: string
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    this.code = code
    this.message = message
    this.data = data
  }
}

/** The cause of a failure that is only silence: the server may still be working. */
export class MCPNoAnswer {
  readonly timeoutMs: number
  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs
  }
}

/** How the server can reach the requester while the request is running. */
export interface MCPLine {
  readonly answer: (question: MCPQuestion) => Effect.Effect<JsonObject, MCPRefused>
  readonly log: (entry: {
    readonly level: LoggingLevel
    readonly logger?: string
    readonly data: unknown
  }) => Effect.Effect<void>
}

export interface MCPExchange {
  /** Fails after this time without a sign of life. Progress is a sign of life. */
  readonly timeoutMs?: number
  readonly onProgress?: (progress: Progress) => Effect.Effect<void>
  readonly line?: MCPLine
  /** Sent with the request as `_meta`. */
  readonly meta?: JsonObject
  /** The requester's capabilities. A new-era server is told; an old-era one was told when we connected. */
  readonly capabilities?: JsonObject
  /** New-era servers log nothing unless asked to. */
  readonly logLevel?: LoggingLevel
  /** Answers to the server's questions, and the state that came with them. */
  readonly answers?: Readonly<Record<string, JsonObject>>
  readonly state?: string
}

export type MCPReply =
  | { readonly _tag: "Done"; readonly result: JsonObject }
  /** It needs these answers first, and the request is then repeated. */
  | {
      readonly _tag: "Asks"
      readonly questions: Readonly<Record<string, MCPQuestion>>
      readonly state: string | undefined
    }
  /** It continues without us; `tasks/get` returns its state. */
  | { readonly _tag: "Task"; readonly task: JsonObject }
