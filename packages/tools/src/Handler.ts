/** What runs when a tool is called. It gets validated arguments and the call, and fails with the name of its tool. */
import type { ToolDefinition, ToolExecutionError, ToolTimeoutError } from "@stoa/contract"
import type { Effect } from "effect"

/** One call, as the handler sees it. Interrupting the call interrupts the handler. */
export interface CallContext {
  readonly id: string
  /** Who calls. */
  readonly principal: string
  /** Where: seed 004's session, the house's space. */
  readonly space: string | null
  readonly correlationId: string
  /** The same key means the same call. A handler that acts outside should pass it on. */
  readonly idempotencyKey: string
  /** Reports the progress of long work; nobody need listen. */
  readonly progress: Progress
}

export type Progress = (done: {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}) => Effect.Effect<void>

/** `C`: a program may give its handlers more than `CallContext`. */
export type ToolHandler<C = CallContext> = (
  args: Readonly<Record<string, unknown>>,
  call: C,
) => Effect.Effect<unknown, ToolExecutionError | ToolTimeoutError>

export interface Tool<C = CallContext> {
  readonly definition: ToolDefinition
  readonly handler: ToolHandler<C>
  /** What a result has cost, in US dollars: a fixed price, or what the API charged for it (S4-112). */
  readonly cost?: (result: unknown) => number
  /**
   * The handler has validated its result against the output schema itself: an MCP result is more than what the schema
   * describes.
   */
  readonly checksOutput?: boolean
  /**
   * The handler itself ends work that shows no sign of life within `timeoutMs`; other work may take as long as any tool
   * may.
   */
  readonly keepsTime?: boolean
}
