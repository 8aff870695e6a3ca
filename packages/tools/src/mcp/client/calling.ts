/**
 * Requests to a connected server. Reads may be repeated; a tool call is sent once, because nobody can know whether it
 * acted (S4-75). The one exception: the server itself says that it never received it.
 */
import type { CallToolResult } from "@modelcontextprotocol/client"
import { type MCPConnectionError, ToolExecutionError } from "@stoa/contract"
import { Deferred, Effect, Exit, Schedule, type Semaphore } from "effect"
import { monotonicMillis } from "../../monotonic.ts"
import { abandoned, admit, closed, failed } from "./breaker.ts"
import { connectionError, type Fault, isFinal } from "./faults.ts"
import type { MCPConnection } from "./MCPConnection.ts"
import { MCPSilence } from "./exchange/MCPExchange.ts"
import { mcpToolFailure, mcpToolResult } from "./tools/MCPToolCall.ts"
import type { Session } from "../session/session.ts"
import type { SessionRequest } from "../session/sessionRequest.ts"
import { type Link, loseConnection } from "../session/upkeep.ts"

const live = (kept: Link) =>
  Effect.suspend(() => {
    const { config } = kept.opening
    if (kept.opened !== undefined) return Effect.succeed(kept.opened)
    const why = kept.why === "" ? "" : ` (${kept.why})`
    return connectionError(config, `MCP server "${config.name}" not connected${why}`)
  })

/** Waits for a lost server, as long as connecting may take. */
export const awaitReconnect = (kept: Link) =>
  Effect.suspend(() => Effect.timeoutOption(Deferred.await(kept.back), kept.opening.limits.connectionTimeoutMs))

/** Passes a request through the breaker and the concurrency limit, and updates the breaker with its outcome. */
export const throughBreaker = <A>(
  kept: Link,
  permits: Semaphore.Semaphore,
  run: (request: SessionRequest, session: Session) => Effect.Effect<A, Fault>,
): Effect.Effect<A, Fault | MCPConnectionError> =>
  permits.withPermit(
    Effect.gen(function* () {
      const { config, settings } = kept.opening
      const opened = yield* live(kept)
      const { next, pass } = admit(kept.breaker, yield* monotonicMillis)
      kept.breaker = next
      if (!pass)
        return yield* connectionError(
          config,
          `MCP server "${config.name}" failed ${next.failures} times in a row and is left alone for a while`,
        )
      return yield* run(opened.session.request, opened.session).pipe(
        Effect.onExit(
          Effect.fnUntraced(function* (exit) {
            const now = yield* monotonicMillis
            const fault = Exit.isFailure(exit) ? exit.cause.reasons.find((it) => it._tag === "Fail")?.error : undefined
            if (Exit.isSuccess(exit) || (fault !== undefined && isFinal(fault))) kept.breaker = closed
            // A failure caused by one call does not shut out the others.
            else if (fault === undefined || fault.kind === "failed") kept.breaker = abandoned(kept.breaker)
            else kept.breaker = failed(kept.breaker, settings.breaker, now)
            // Over HTTP only a failed request shows that a server is gone.
            if (fault?.kind === "lost") loseConnection(kept, opened, fault)
          }),
        ),
      )
    }),
  )

export const isFault = (error: Fault | MCPConnectionError): error is Fault => !("_tag" in error)

/** A call by a requester that cannot be asked back: the server's complete result. */
export const callerOf = (kept: Link, exchange: MCPConnection["exchange"]): MCPConnection["callTool"] =>
  Effect.fn("MCPConnection.callTool")(function* (name, args, options = {}) {
    const { config, ports } = kept.opening
    const tool = `${config.name}/${name}`
    yield* live(kept)
    const listed = kept.tools.get(name)
    if (listed === undefined)
      return yield* new ToolExecutionError({
        message: `MCP server "${config.name}" has no tool "${name}" to call`,
        toolName: tool,
        input: args,
      })
    const called = { tool, listed, arguments: args }
    const reply = yield* Effect.mapError(exchange("tools/call", { name, arguments: { ...args } }, options), (error) =>
      error._tag === "MCPConnectionError" && !(error.cause instanceof MCPSilence)
        ? error
        : mcpToolFailure(called, error),
    )
    return (yield* mcpToolResult(called, reply, ports.validate)) as CallToolResult
  })

/** Repeats after a timeout or a lost connection: reading twice does no harm. */
export const readerOf =
  (kept: Link, permits: Semaphore.Semaphore) =>
  <A>(
    what: string,
    run: (request: SessionRequest) => Effect.Effect<A, Fault>,
  ): Effect.Effect<A, MCPConnectionError> => {
    const { config, limits, settings } = kept.opening
    return throughBreaker(kept, permits, run).pipe(
      Effect.tapError((error) => (isFault(error) && error.kind === "lost" ? awaitReconnect(kept) : Effect.void)),
      Effect.retry({
        times: Math.max(0, limits.maxRetries - 1),
        schedule: Schedule.jittered(Schedule.exponential(settings.backoffMs)),
        while: (error) => isFault(error) && !isFinal(error),
      }),
      Effect.mapError((error) =>
        isFault(error)
          ? connectionError(
              config,
              `MCP server "${config.name}" did not give its ${what}: ${error.message}`,
              error.cause,
            )
          : error,
      ),
    )
  }
