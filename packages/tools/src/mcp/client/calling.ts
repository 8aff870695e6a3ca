/**
 * Requests to a kept server. Reading may be tried again; a tool call is sent once, whatever happens to it, because
 * nobody can know whether it acted (S4-75). The one exception: the server itself says that it never heard it.
 */
import type { CallToolRequestOptions, CallToolResult } from "@modelcontextprotocol/client"
import { type MCPConnectionError, ToolExecutionError } from "@stoa/contract"
import { Clock, Deferred, Effect, Exit, Schedule, type Semaphore } from "effect"
import { abandoned, admit, closed, failed } from "./breaker.ts"
import { connectionError, type Fault, isFinal, short } from "./faults.ts"
import type { MCPCallOptions, MCPConnection } from "./MCPConnection.ts"
import type { MCPTool } from "./MCPTool.ts"
import type { Session } from "../session/session.ts"
import type { SessionRequest } from "../session/sessionRequest.ts"
import { type Kept, lose } from "../session/upkeep.ts"

/** What a server sent as text, for the error it stands for. */
const textOf = (result: CallToolResult): string => {
  const text = result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  return short(text === "" ? "it gave no reason" : text)
}

const live = (kept: Kept) =>
  Effect.suspend(() => {
    const { config } = kept.opening
    if (kept.opened !== undefined) return Effect.succeed(kept.opened)
    const why = kept.why === "" ? "" : ` (${kept.why})`
    return connectionError(config, `MCP server "${config.name}" not connected${why}`)
  })

/** Waits for a lost server, for as long as connecting to it may take. */
export const back = (kept: Kept) =>
  Effect.suspend(() => Effect.timeoutOption(Deferred.await(kept.back), kept.opening.limits.connectionTimeoutMs))

/** Lets a request through the breaker and the server's share of concurrency, and learns from what becomes of it. */
export const guarded = <A>(
  kept: Kept,
  permits: Semaphore.Semaphore,
  run: (request: SessionRequest, session: Session) => Effect.Effect<A, Fault>,
): Effect.Effect<A, Fault | MCPConnectionError> =>
  permits.withPermit(
    Effect.gen(function* () {
      const { config, settings } = kept.opening
      const opened = yield* live(kept)
      const { next, pass } = admit(kept.breaker, yield* Clock.currentTimeMillis)
      kept.breaker = next
      if (!pass)
        return yield* connectionError(
          config,
          `MCP server "${config.name}" failed ${next.failures} times in a row and is left alone for a while`,
        )
      return yield* run(opened.session.request, opened.session).pipe(
        Effect.onExit(
          Effect.fnUntraced(function* (exit) {
            const now = yield* Clock.currentTimeMillis
            const fault = Exit.isFailure(exit) ? exit.cause.reasons.find((it) => it._tag === "Fail")?.error : undefined
            if (Exit.isSuccess(exit) || (fault !== undefined && isFinal(fault))) kept.breaker = closed
            // What one caller's call did to itself does not shut out the others.
            else if (fault === undefined || fault.kind === "failed") kept.breaker = abandoned(kept.breaker)
            else kept.breaker = failed(kept.breaker, settings.breaker, now)
            // Over HTTP nothing tells us that a server has gone but a request that fails.
            if (fault?.kind === "lost") lose(kept, opened, fault)
          }),
        ),
      )
    }),
  )

export const isFault = (error: Fault | MCPConnectionError): error is Fault => !("_tag" in error)

const failure = (kept: Kept, tool: string, args: unknown, error: Fault | MCPConnectionError) => {
  if (!isFault(error)) return error
  const { config } = kept.opening
  if (error.kind === "lost" || error.kind === "failed" || error.kind === "unauthorized")
    return connectionError(
      config,
      `MCP tool "${tool}" was not answered: ${error.message}. ${error.unheard ? "It was not executed" : "Whether it acted is unknown, so it is not repeated"}`,
      error.cause,
    )
  const unknown = error.kind === "timeout" ? ". Whether it acted is unknown, so it is not repeated" : ""
  return new ToolExecutionError({
    message: `MCP tool "${tool}" failed: ${error.message}${unknown}`,
    toolName: `${config.name}/${tool}`,
    input: args,
    ...(error.code === undefined ? {} : { cause: { code: error.code, data: error.data } }),
  })
}

const send = (
  tool: MCPTool,
  args: Readonly<Record<string, unknown>>,
  { meta, onProgress, timeoutMs }: MCPCallOptions,
  maxCallMs: number,
) =>
  Effect.fnUntraced(function* (request: SessionRequest) {
    const context = yield* Effect.context<never>()
    const tell = Effect.runForkWith(context)
    const options: CallToolRequestOptions = {
      // Given with each call, so that the SDK needs no list of its own to know which arguments become headers.
      toolDefinition: tool.raw as NonNullable<CallToolRequestOptions["toolDefinition"]>,
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(onProgress === undefined
        ? {}
        : {
            onprogress: (progress) => {
              tell(onProgress(progress))
            },
            resetTimeoutOnProgress: true,
            maxTotalTimeout: maxCallMs,
          }),
    }
    const params = { name: tool.name, arguments: { ...args }, ...(meta === undefined ? {} : { _meta: { ...meta } }) }
    return yield* request((client, base) => client.callTool(params, { ...options, ...base, ...options }))
  })

export const callerOf = (kept: Kept, permits: Semaphore.Semaphore): MCPConnection["callTool"] =>
  Effect.fn("MCPConnection.callTool")(function* (toolName, args, options = {}) {
    const { config, ports, settings } = kept.opening
    const fullName = `${config.name}/${toolName}`
    yield* live(kept)
    const tool = kept.tools.get(toolName)
    if (tool === undefined)
      return yield* new ToolExecutionError({
        message: `MCP server "${config.name}" has no tool "${toolName}" to call`,
        toolName: fullName,
        input: args,
      })
    const once = guarded(kept, permits, send(tool, args, options, settings.maxCallMs))
    const result = yield* once.pipe(
      Effect.catchIf(
        (error) => isFault(error) && error.unheard === true,
        () => Effect.andThen(back(kept), once),
      ),
      Effect.mapError((error) => failure(kept, toolName, args, error)),
    )
    if (result.isError === true)
      return yield* new ToolExecutionError({
        message: `MCP tool "${toolName}" failed: ${textOf(result)}`,
        toolName: fullName,
        input: args,
        cause: result,
      })
    if (tool.outputSchema === undefined || result.structuredContent === undefined) return result
    const fault = yield* ports.validate(fullName, tool.outputSchema, result.structuredContent)
    if (fault === undefined) return result
    return yield* new ToolExecutionError({
      message: `MCP tool "${toolName}" ran, but its result is not what its output schema says: ${fault}`,
      toolName: fullName,
      input: args,
      cause: result,
    })
  })

/** Asks again after a timeout or a loss: reading twice does no harm. */
export const readerOf =
  (kept: Kept, permits: Semaphore.Semaphore) =>
  <A>(
    what: string,
    run: (request: SessionRequest) => Effect.Effect<A, Fault>,
  ): Effect.Effect<A, MCPConnectionError> => {
    const { config, limits, settings } = kept.opening
    return guarded(kept, permits, run).pipe(
      Effect.tapError((error) => (isFault(error) && error.kind === "lost" ? back(kept) : Effect.void)),
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
