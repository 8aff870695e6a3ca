/**
 * A server's tool as one of the house's: hidden from spaces, and called with nothing of its caller's except the input.
 */
import { MCPConnectionError, ToolExecutionError, type ToolTimeoutError } from "@stoa/contract"
import {
  type MCPToolCall,
  type MCPConnection,
  type MCPReply,
  type MCPTool,
  mcpToolDefinition,
  mcpToolFailure,
  mcpToolResult,
  type Tool,
} from "@stoa/tools"
import { Effect, type Scope } from "effect"
import { outsideKeyOf } from "../../access/identity/IdempotencyKeys.ts"
import { traceOf } from "../../store/journal/Trace.ts"
import { InputRequired, type MCPCall } from "../InputRequired.ts"
import { isReservedMeta } from "../ReservedMeta.ts"
import type { makeToolCalls } from "./toolCall.ts"

type JsonObject = Readonly<Record<string, unknown>>

export interface ToolConnection {
  /** How long a call may run without a sign of life. */
  readonly timeoutMs: number
  /** The connection, if this very tool may be called now. */
  readonly connection: () => { readonly connection: MCPConnection; readonly scope: Scope.Scope } | undefined
  /** Waits a while for a server that is starting. */
  readonly waitUntilConnected: Effect.Effect<void>
  readonly isStarting: () => boolean
  readonly run: ReturnType<typeof makeToolCalls>["run"]
}

/** MCP Apps: `_meta.ui.visibility` says who may call a tool, by default the model and the app. */
export const isForAppsAlone = ({ raw }: MCPTool): boolean => {
  const meta = raw["_meta"] as { readonly ui?: { readonly visibility?: unknown } } | null | undefined
  const visibility = meta?.ui?.visibility
  return Array.isArray(visibility) && visibility.includes("app") && !visibility.includes("model")
}

/** `_meta` keys of the protocol are for one hop only. */
const withoutHop = ({ _meta, ...result }: JsonObject): JsonObject => {
  const kept = Object.entries((_meta ?? {}) as JsonObject).filter(([key]) => !isReservedMeta(key))
  return kept.length === 0 ? result : { ...result, _meta: Object.fromEntries(kept) }
}

export const toolOf = (server: string, listed: MCPTool, link: ToolConnection): Tool<MCPCall> => {
  const definition = {
    ...mcpToolDefinition(server, listed),
    timeoutMs: link.timeoutMs,
    visibility: "hidden",
    executionType: "gateway",
  } as const
  const tool = definition.name

  return {
    definition,
    // The MCP client ends a call without a sign of life; otherwise it may take as long as it needs.
    keepsTime: true,
    // Validated here, because the schema is about a part of the result.
    checksOutput: true,
    handler: Effect.fnUntraced(function* (args, call) {
      const called: MCPToolCall = { tool, listed, arguments: args }
      yield* link.waitUntilConnected
      const there = link.connection()
      if (there === undefined)
        return yield* new ToolExecutionError({
          message: link.isStarting()
            ? `"${tool}" cannot be called yet: its server is starting. Try again in a moment`
            : `"${tool}" cannot be called now: its server is gone or stopped, or the tool waits for review`,
          toolName: tool,
          input: args,
        })
      const reply = yield* link
        .run(there.connection, there.scope, {
          call: call.id,
          client: call.client,
          answered: call.answered,
          keep: call.keep,
          tool: listed.name,
          arguments: args,
          onlyTask:
            (listed.raw["execution"] as { readonly taskSupport?: unknown } | undefined)?.taskSupport === "required",
          // The client's own trace, or the trace of the call.
          meta: { ...traceOf(call), ...call.client?.trace, "stoa/idempotencyKey": outsideKeyOf(call) },
          onProgress: ({ message, progress, total }) =>
            call.progress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            }),
        })
        .pipe(Effect.mapError((error) => kept(mcpToolFailure(called, error))))
      if (reply instanceof InputRequired) return reply
      const whole: MCPReply = reply._tag === "Done" ? { ...reply, result: withoutHop(reply.result) } : reply
      return yield* Effect.mapError(mcpToolResult(called, whole), kept)
    }),
  }
}

/**
 * What a failed call stores of its server's answer: a refusal or a result in the protocol's own form. Connection errors
 * are not that.
 */
const kept = (error: ToolExecutionError | ToolTimeoutError): ToolExecutionError | ToolTimeoutError =>
  error._tag === "ToolExecutionError" && error.cause instanceof MCPConnectionError
    ? new ToolExecutionError({ ...error, message: error.message, cause: undefined })
    : error
