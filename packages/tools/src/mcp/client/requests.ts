/**
 * Requests to a connected server. Reads may be repeated; a tool call is sent once, because nobody can know whether it
 * acted (S4-75). The one exception: the server itself says that it never received it.
 */
import type { CallToolResult } from "@modelcontextprotocol/client"
import { type MCPConnectionError, ToolExecutionError } from "@stoa/contract"
import { Deferred, Effect, Exit, Schedule, type Semaphore } from "effect"
import { monotonicMillis } from "../../monotonic.ts"
import { abandoned, admit, closed, failed } from "./breaker.ts"
import { connectionError, type MCPFault, isFinal } from "./faults.ts"
import type { MCPConnection } from "./MCPConnection.ts"
import { MCPNoAnswer } from "./exchange/MCPExchange.ts"
import { mcpToolFailure, mcpToolResult } from "./tools/MCPToolCall.ts"
import type { Session } from "../session/session.ts"
import type { SessionRequest } from "../session/sessionRequest.ts"
import { type ServerLink, loseConnection } from "../session/serverLink.ts"

const live = (link: ServerLink) =>
  Effect.suspend(() => {
    const { config } = link.options
    if (link.connection !== undefined) return Effect.succeed(link.connection)
    const why = link.why === "" ? "" : ` (${link.why})`
    return connectionError(config, `MCP server "${config.name}" not connected${why}`)
  })

/** Waits for a lost server, as long as connecting may take. */
export const awaitReconnect = (link: ServerLink) =>
  Effect.suspend(() => Effect.timeoutOption(Deferred.await(link.back), link.options.limits.connectionTimeoutMs))

/** Passes a request through the breaker and the concurrency limit, and updates the breaker with its outcome. */
export const throughBreaker = <A>(
  link: ServerLink,
  permits: Semaphore.Semaphore,
  run: (request: SessionRequest, session: Session) => Effect.Effect<A, MCPFault>,
): Effect.Effect<A, MCPFault | MCPConnectionError> =>
  permits.withPermit(
    Effect.gen(function* () {
      const { config, settings } = link.options
      const connection = yield* live(link)
      const { next, pass } = admit(link.breaker, yield* monotonicMillis)
      link.breaker = next
      if (!pass)
        return yield* connectionError(
          config,
          `MCP server "${config.name}" failed ${next.failures} times in a row and is left alone for a while`,
        )
      return yield* run(connection.session.request, connection.session).pipe(
        Effect.onExit(
          Effect.fnUntraced(function* (exit) {
            const now = yield* monotonicMillis
            const fault = Exit.isFailure(exit) ? exit.cause.reasons.find((it) => it._tag === "Fail")?.error : undefined
            if (Exit.isSuccess(exit) || (fault !== undefined && isFinal(fault))) link.breaker = closed
            // A failure caused by one call does not shut out the others.
            else if (fault === undefined || fault.kind === "failed") link.breaker = abandoned(link.breaker)
            else link.breaker = failed(link.breaker, settings.breaker, now)
            // Over HTTP only a failed request shows that a server is gone.
            if (fault?.kind === "lost") loseConnection(link, connection, fault)
          }),
        ),
      )
    }),
  )

export const isFault = (error: MCPFault | MCPConnectionError): error is MCPFault => !("_tag" in error)

/** A call by a requester that cannot be asked back: the server's complete result. */
export const makeCallTool = (link: ServerLink, exchange: MCPConnection["exchange"]): MCPConnection["callTool"] =>
  Effect.fn("MCPConnection.callTool")(function* (name, args, options = {}) {
    const { config, ports } = link.options
    const tool = `${config.name}/${name}`
    yield* live(link)
    const listed = link.tools.get(name)
    if (listed === undefined)
      return yield* new ToolExecutionError({
        message: `MCP server "${config.name}" has no tool "${name}" to call`,
        toolName: tool,
        input: args,
      })
    const called = { tool, listed, arguments: args }
    const reply = yield* Effect.mapError(exchange("tools/call", { name, arguments: { ...args } }, options), (error) =>
      error._tag === "MCPConnectionError" && !(error.cause instanceof MCPNoAnswer)
        ? error
        : mcpToolFailure(called, error),
    )
    return (yield* mcpToolResult(called, reply, ports.validate)) as CallToolResult
  })

/** Repeats after a timeout or a lost connection: reading twice does no harm. */
export const makeRead =
  (link: ServerLink, permits: Semaphore.Semaphore) =>
  <A>(
    what: string,
    run: (request: SessionRequest) => Effect.Effect<A, MCPFault>,
  ): Effect.Effect<A, MCPConnectionError> => {
    const { config, limits, settings } = link.options
    return throughBreaker(link, permits, run).pipe(
      Effect.tapError((error) => (isFault(error) && error.kind === "lost" ? awaitReconnect(link) : Effect.void)),
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
