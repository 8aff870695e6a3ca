/**
 * The one road of a tool call: find, judge, validate, record, ask, execute, settle. Each step is a small function over
 * ports; `ToolService.execute` walks them in one go, and the server's calls walk the same ones with its store between.
 * A call settles or waits. It never sleeps.
 */
import { randomUUID } from "node:crypto"
import {
  ToolAuthorizationError,
  ToolExecutionError,
  type ToolInput,
  ToolNotFoundError,
  type ToolOutput,
  ToolTimeoutError,
  ToolValidationError,
} from "@stoa/contract"
import { Cause, Clock, Duration, Effect, Exit, Metric } from "effect"
import { deepest, extentOf } from "./schema/extent.ts"
import { validateToolInput } from "./schema/validateInput.ts"
import {
  type Answer,
  AuditPort,
  type Call,
  DecisionsPort,
  EventsPort,
  type Identity,
  IdentityPort,
  type Opened,
  type Settled,
} from "./Ports.ts"
import { RecordPort } from "./RecordMemory.ts"
import { notFound, type RegisteredTool, type Registry } from "./Registry.ts"
import { runInTime } from "./sandbox/Timeout.ts"
import { digestOf } from "./schema/guard.ts"
import { saidOf } from "./schema/compile.ts"
import { checkAgainst, prepareSchema, validateWithSchema } from "./schema/validateSchema.ts"
import { CurrentToolsConfig, type ToolsConfig } from "./ToolsConfig.ts"

export type ToolError =
  | ToolNotFoundError
  | ToolExecutionError
  | ToolTimeoutError
  | ToolValidationError
  | ToolAuthorizationError

const executions = Metric.counter("tools.executions")
const errors = Metric.counter("tools.errors")
const durations = Metric.timer("tools.execution_duration_ms")

/** How many names a not-found answer may list: enough to choose from, too few to flood a prompt. */
const mostNames = 100

/** Fills in what the caller left out. Who calls is what the caller of this function says, never what arguments say. */
export const begin = (input: ToolInput): Effect.Effect<Call> =>
  Effect.map(Clock.currentTimeMillis, (startedAt) => {
    const id = `call_${randomUUID()}`
    return {
      id,
      toolName: input.toolName,
      arguments: input.arguments,
      agentId: input.agentId,
      sessionId: input.sessionId,
      correlationId: input.correlationId ?? randomUUID().replaceAll("-", ""),
      idempotencyKey: input.idempotencyKey ?? id,
      startedAt,
    }
  })

const resourceOf = (name: string): string => `tools/${name}`

const mayBy = (identity: Identity, agentId: string, name: string): Effect.Effect<boolean> => {
  try {
    const said = identity.authorize(agentId, resourceOf(name), "execute")
    // Most know it at once: then nothing has to be waited for.
    if (Exit.isExit(said)) return Effect.succeed(Exit.isSuccess(said))
    return Effect.matchCause(said, { onSuccess: () => true, onFailure: () => false })
  } catch {
    // An identity that throws denies like one that fails (S4-25).
    return Effect.succeed(false)
  }
}

/** Where tools are looked for: a registry, or one caller's view of several. */
export type Shelf = Pick<Registry, "find" | "names">

export const find = (registry: Shelf, call: Call): Effect.Effect<RegisteredTool, ToolNotFoundError> => {
  const tool = registry.find(call.toolName)
  return tool === undefined ? missing(registry, call) : Effect.succeed(tool)
}

/** Says what there is instead, of what the agent may use. */
export const missing = Effect.fnUntraced(function* (registry: Shelf, call: Call) {
  const identity = yield* IdentityPort
  const names: Array<string> = []
  for (const name of registry.names()) {
    if (names.length >= mostNames) break
    if (yield* mayBy(identity, call.agentId, name)) names.push(name)
  }
  return yield* notFound(call.toolName, names)
})

export const judge = (tool: RegisteredTool, call: Call): Effect.Effect<void, ToolAuthorizationError> =>
  Effect.withFiber((fiber) => judgeBy(fiber.getRef(IdentityPort), fiber.getRef(CurrentToolsConfig), tool, call))

/** The same, for whoever holds the identity and the configuration; at hand, where the identity's answer is. */
export const judgeBy = (
  identity: Identity,
  { security }: ToolsConfig,
  tool: RegisteredTool,
  call: Call,
): Effect.Effect<void, ToolAuthorizationError> => {
  if (!security.requireAuthorizationForAll) return Effect.void
  const { name } = tool.definition
  const answer = (may: boolean) =>
    may
      ? Effect.void
      : Effect.fail(
          new ToolAuthorizationError({
            message: `Agent ${call.agentId} not authorized to execute tool "${name}"`,
            toolName: name,
            agentId: call.agentId,
          }),
        )
  const said = mayBy(identity, call.agentId, name)
  return Exit.isExit(said) && Exit.isSuccess(said) ? answer(said.value as boolean) : Effect.flatMap(said, answer)
}

/** The handler sees what comes out of here and nothing else (S4-26). */
export const validate = (
  tool: RegisteredTool,
  call: Call,
): Effect.Effect<Readonly<Record<string, unknown>>, ToolValidationError> => {
  const { definition } = tool
  const extent = extentOf(call.arguments)
  if (extent.tooDeep)
    return new ToolValidationError({
      message: `The arguments of "${definition.name}" are nested more than ${deepest} deep`,
      toolName: definition.name,
      parameter: "",
      expected: `arguments at most ${deepest} deep`,
      received: "more than that",
    })
  return definition.inputSchema === undefined
    ? validateToolInput(definition, call.arguments)
    : validateWithSchema(definition, call.arguments, tool.reviewed, extent)
}

/** Opens the call in the record. A record that cannot be written refuses the call: what is not written did not happen. */
export const record = (call: Call): Effect.Effect<Opened, ToolExecutionError> =>
  Effect.flatMap(RecordPort, (port) =>
    Effect.mapError(
      port.open(call),
      (cause) =>
        new ToolExecutionError({
          message: `The call could not be recorded, and was not run: ${String(cause)}`,
          toolName: call.toolName,
          cause,
        }),
    ),
  )

/** S4-94, S4-95: by its flag, or by its risk. */
export const needsApproval = (tool: RegisteredTool): Effect.Effect<boolean> =>
  Effect.map(CurrentToolsConfig, (config) => needsApprovalBy(config, tool))

export const needsApprovalBy = ({ security }: ToolsConfig, { definition }: RegisteredTool): boolean =>
  definition.requiresApproval ||
  (security.blockHighRiskWithoutApproval && (definition.riskLevel === "high" || definition.riskLevel === "critical"))

/** What an approval is an approval of: this tool as it was shown, with these arguments, by this agent. */
export const digestOfCall = (tool: RegisteredTool, call: Call): string =>
  digestOf([tool.definition.name, tool.fingerprint, call.agentId, call.arguments])

const approved: Answer = { state: "approved" }

/** Asks, where the tool wants it. An answer that cannot be had is a no. */
export const ask = Effect.fnUntraced(function* (tool: RegisteredTool, call: Call) {
  if (!(yield* needsApproval(tool))) return approved
  const decisions = yield* DecisionsPort
  const { name, riskLevel } = tool.definition
  const question = {
    callId: call.id,
    toolName: name,
    agentId: call.agentId,
    arguments: call.arguments,
    riskLevel,
    digest: digestOfCall(tool, call),
  }
  return yield* Effect.suspend(() => decisions.ask(question)).pipe(
    Effect.catchCause((cause) =>
      Effect.succeed<Answer>({ state: "denied", reason: `it could not be asked: ${String(Cause.squash(cause))}` }),
    ),
  )
})

/** A waiting or denied answer as seed 004 tells it: the call is not authorized, or not yet. */
export const refusalOf = (tool: RegisteredTool, call: Call, answer: Answer): ToolAuthorizationError | undefined => {
  const { name } = tool.definition
  const base = { toolName: name, agentId: call.agentId }
  const decision = answer.decision === undefined ? {} : { decision: answer.decision }
  switch (answer.state) {
    case "approved":
      return undefined
    case "waiting":
      return new ToolAuthorizationError({
        ...base,
        ...decision,
        message: `"${name}" waits for approval (decision ${answer.decision}). Call it again with the same idempotency key once it is answered`,
      })
    case "denied":
      return new ToolAuthorizationError({
        ...base,
        ...decision,
        message: `"${name}" needs approval and was not approved${answer.reason === undefined ? "" : `: ${answer.reason}`}`,
      })
  }
}

/** Runs the handler within its time and checks what it gives back. Interrupting this interrupts the handler. */
export const execute = Effect.fnUntraced(function* (tool: RegisteredTool, call: Call, progress: ProgressSink = silent) {
  const { definition, handler } = tool
  const context = {
    callId: call.id,
    agentId: call.agentId,
    sessionId: call.sessionId,
    correlationId: call.correlationId,
    idempotencyKey: call.idempotencyKey,
    progress,
  }
  const time = tool.keepsTime === true ? { ...definition, timeoutMs: Number.MAX_SAFE_INTEGER } : definition
  const result = yield* runInTime(time, () => handler(call.arguments, context))
  if (definition.outputSchema === undefined || tool.checksOutput === true) return result
  const schema = yield* prepareSchema(definition.name, "outputSchema", definition.outputSchema)
  const fault = yield* checkAgainst(schema, result, tool.reviewed)
  if (fault === undefined) return result
  return yield* new ToolExecutionError({
    message: `${definition.name} gave a result that does not fit its own schema: ${fault.path === "" ? "the result" : `"${fault.path}"`} ${saidOf(fault)}`,
    toolName: definition.name,
    input: call.arguments,
  })
})

type ProgressSink = (done: {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}) => Effect.Effect<void>
const silent: ProgressSink = () => Effect.void

const settledOf = (exit: Exit.Exit<unknown, ToolError>, executionTimeMs: number): Settled => {
  if (Exit.isSuccess(exit)) return { state: "done", output: exit.value, executionTimeMs }
  const error = Cause.squash(exit.cause)
  if (
    error instanceof ToolAuthorizationError ||
    error instanceof ToolValidationError ||
    error instanceof ToolNotFoundError
  )
    return { state: "refused", error: { tag: error._tag, message: error.message } }
  const tag = (error as { readonly _tag?: string })._tag ?? "Interrupted"
  return { state: "failed", error: { tag, message: error instanceof Error ? error.message : String(error) } }
}

/** The figures of a settled call (S4-31). */
export const count = (done: boolean, durationMs: number): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => {
    executions.updateUnsafe(1, context)
    durations.updateUnsafe(Duration.millis(durationMs), context)
    if (!done) errors.updateUnsafe(1, context)
    return Effect.void
  })

/** Writes down how it ended, whichever way it ended: record, audit, event, figures (S4-28 … S4-31). */
export const settle = Effect.fnUntraced(function* (call: Call, exit: Exit.Exit<unknown, ToolError>) {
  const durationMs = Math.max(0, (yield* Clock.currentTimeMillis) - call.startedAt)
  const settled = settledOf(exit, durationMs)
  const port = yield* RecordPort
  const audit = yield* AuditPort
  const events = yield* EventsPort
  const result =
    settled.state === "done" ? "success" : settled.error.tag === "ToolAuthorizationError" ? "denied" : "failure"
  yield* quietly("record", () => port.settle(call, settled))
  yield* quietly("audit", () =>
    audit.record({
      agentId: call.agentId,
      sessionId: call.sessionId,
      action: "tool.execute",
      resource: resourceOf(call.toolName),
      result,
      durationMs,
      metadata: {
        correlationId: call.correlationId,
        callId: call.id,
        ...(settled.state === "done" ? {} : { errorTag: settled.error.tag }),
      },
    }),
  )
  const { toolName } = call
  yield* quietly("event", () =>
    events.publish(
      settled.state === "done"
        ? { type: "tools.executed", payload: { toolName, success: true, executionTimeMs: durationMs } }
        : {
            type: "tools.failed",
            payload: { toolName, success: false, executionTimeMs: durationMs, error: settled.error },
          },
    ),
  )
  yield* count(settled.state === "done", durationMs)
  return settled
})

/** What is written after the fact must not change the fact. */
const quietly = (what: string, write: () => Effect.Effect<void, unknown>): Effect.Effect<void> =>
  Effect.suspend(write).pipe(
    Effect.catchCause((cause) => Effect.logWarning(`A call was settled, but its ${what} could not be written`, cause)),
  )

/** The first outcome of a call that came twice. */
export const replay = (call: Call, settled: Settled): Effect.Effect<ToolOutput, ToolExecutionError> =>
  settled.state === "done"
    ? Effect.succeed({
        toolName: call.toolName,
        success: true,
        result: settled.output,
        executionTimeMs: settled.executionTimeMs,
        metadata: { replayed: true },
      })
    : new ToolExecutionError({
        message: `This call was made before and did not succeed: ${settled.error.message}`,
        toolName: call.toolName,
        input: call.arguments,
      })
