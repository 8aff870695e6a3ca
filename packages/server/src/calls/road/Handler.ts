/** What a tool's handler gets of its call, and what it may return instead of a result. */
import type { CallId, Caller, CallRun, PrincipalId, SpaceId } from "@stoa/contract"
import { Redactor, type Tool, type ToolHandler } from "@stoa/tools"
import type { Schema } from "effect"
import type { Transaction } from "../../store/journal/Journal.ts"
import type { MCPCall } from "../../servers/InputRequired.ts"

/** What a call collects while it runs, to be stored beside its outcome or kept out of it. */
export interface Traces {
  /**
   * Gets each secret value that is sent for the call; they are removed from everything stored, shown or logged of the
   * call.
   */
  readonly redactor: Redactor
  /** What came with the output but is not part of it, such as the status and headers of an HTTP answer. */
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
  /** If all its effects are in our database: the transaction that records it. */
  readonly transaction: Transaction["Service"] | undefined
}

export type HouseHandler = ToolHandler<HandlerCall>
export type HouseTool = Tool<HandlerCall>

/** Returned by a handler whose result comes later, from elsewhere. Nothing is held meanwhile. */
export class PendingResult {
  readonly kind: "client" | "callback" | "run" | "reply"
  /** The call expires if it is not answered within this time. */
  readonly milliseconds: number
  /**
   * The host that a callback comes from, or the wait that replies come to; undefined if anybody with the key may send
   * the result.
   */
  readonly host: string | undefined
  constructor(kind: "client" | "callback" | "run" | "reply", milliseconds: number, host?: string) {
    this.kind = kind
    this.milliseconds = milliseconds
    this.host = host
  }
}
