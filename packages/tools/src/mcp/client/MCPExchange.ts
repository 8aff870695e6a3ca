/**
 * A request to a server as somebody else made it, and the answer as it came: what a gateway needs. Questions of the server
 * go back to whoever asked, because only they know who could answer.
 */
import type { LoggingLevel, Progress } from "@modelcontextprotocol/client"
import type { Effect } from "effect"

type JsonObject = Readonly<Record<string, unknown>>

/** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface MCPQuestion {
  readonly method: string
  readonly params: JsonObject
}

/** No, in the protocol's own form. */
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

/** The cause of a failure that is nothing but silence: the server may still be at it. */
export class MCPSilence {
  readonly timeoutMs: number
  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs
  }
}

/** Who made the request that is under way, as far as the server may reach them. */
export interface MCPLine {
  readonly answer: (question: MCPQuestion) => Effect.Effect<JsonObject, MCPRefused>
  readonly log: (entry: {
    readonly level: LoggingLevel
    readonly logger?: string
    readonly data: unknown
  }) => Effect.Effect<void>
}

export interface MCPExchange {
  /** Without a sign of life it fails after this. Progress is a sign of life. */
  readonly timeoutMs?: number
  readonly onProgress?: (progress: Progress) => Effect.Effect<void>
  readonly line?: MCPLine
  /** Travels with the request as `_meta`. */
  readonly meta?: JsonObject
  /** What whoever asked can do. A server of the new era is told; one of the old era was told once, when we connected. */
  readonly capabilities?: JsonObject
  /** The new era logs nothing unless it is asked to. */
  readonly logLevel?: LoggingLevel
  /** Answers to what the server wanted first, and the state that came with its question. */
  readonly answers?: Readonly<Record<string, JsonObject>>
  readonly state?: string
}

export type MCPReply =
  | { readonly _tag: "Done"; readonly result: JsonObject }
  /** It wants these answers first, and is then asked again. */
  | {
      readonly _tag: "Asks"
      readonly questions: Readonly<Record<string, MCPQuestion>>
      readonly state: string | undefined
    }
  /** It goes on without us; `tasks/get` tells how. */
  | { readonly _tag: "Task"; readonly task: JsonObject }
