/** What a tool's handler gets of its call, and what it may return instead of a result. */
import type { CallId, Caller, CallRun, PrincipalId, SpaceId } from "@stoa/contract"
import { Redactor, type Tool, type ToolHandler } from "@stoa/tools"
import type { Schema } from "effect"
import type { Transaction } from "../../store/journal/Journal.ts"
import type { MCPCall } from "../../upstreams/InputRequired.ts"

/** What a call has come across, to be kept beside its outcome or kept out of it. */
export interface Traces {
  /** Told each secret value that is sent for the call; what is stored, shown or logged of the call has them taken out. */
  readonly redactor: Redactor
  /** What came with the output and is not part of it, such as an http answer's status and headers. */
  readonly meta: Map<string, Schema.Json>
}
export const noTraces = (): Traces => ({ redactor: new Redactor(), meta: new Map() })

export interface HandlerCall extends MCPCall, Traces {
  readonly id: CallId
  readonly caller: Caller["Service"]
  readonly principal: PrincipalId
  readonly space: SpaceId | null
  /** The run it is part of, and its place there. */
  readonly run: CallRun | null
  /** Where all it does is in our database: the transaction that records it. */
  readonly transaction: Transaction["Service"] | undefined
}

export type HouseHandler = ToolHandler<HandlerCall>
export type HouseTool = Tool<HandlerCall>

/** Returned by a handler whose result comes later and from elsewhere. Nothing is held meanwhile. */
export class PendingResult {
  readonly kind: "client" | "callback" | "run" | "reply"
  /** Unanswered for so long, the call expires. */
  readonly milliseconds: number
  /** The host that a callback comes from, or the wait that replies come to; none, where whoever has the key may send it. */
  readonly host: string | undefined
  constructor(kind: "client" | "callback" | "run" | "reply", milliseconds: number, host?: string) {
    this.kind = kind
    this.milliseconds = milliseconds
    this.host = host
  }
}
