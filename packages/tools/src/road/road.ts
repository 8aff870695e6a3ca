/**
 * The one road of a tool call: find, judge, validate, record, ask, execute, settle. Each step is a small function of
 * values and ports; `ToolService.execute` runs them in one go, and the server's calls run the same steps with its store
 * in between. A call settles or waits. It never sleeps.
 */
import { randomUUID } from "node:crypto"
import {
  Judgement,
  ToolAuthorizationError,
  ToolExecutionError,
  ToolNotFoundError,
  type ToolTimeoutError,
  ToolValidationError,
} from "@stoa/contract"
import { Cause, Duration, Effect, Exit, Metric } from "effect"
import { monotonicMillis } from "../monotonic.ts"
import { faultText } from "../schema/faults.ts"
import { deepest, extentOf } from "../schema/plain.ts"
import { digestOf } from "../schema/schemaGuard.ts"
import { validateToolInput } from "../schema/validateInput.ts"
import { checkAgainst, measureSchema, validateWithSchema } from "../schema/validateSchema.ts"
import type { Answer, Call, CallRecord, Decisions, Failure, Identity, Question, CallSettlement } from "./Ports.ts"
import { notFound, type RegisteredTool } from "../registry/Registry.ts"
import { crashed, inTime } from "../sandbox/Timeout.ts"
import type { ToolsConfig } from "../ToolsConfig.ts"

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
const maxNames = 100

/** Fills in defaults. The principal is what this function's caller says, never what arguments say. */
export const begin = (
  asked: Pick<Call, "tool" | "input" | "principal" | "space"> & {
    readonly correlationId?: string | undefined
    readonly idempotencyKey?: string | undefined
  },
): Effect.Effect<Call> =>
  Effect.map(monotonicMillis, (startedAt) => {
    const id = `call_${randomUUID()}`
    return {
      id,
      tool: asked.tool,
      input: asked.input,
      principal: asked.principal,
      space: asked.space,
      correlationId: asked.correlationId ?? randomUUID().replaceAll("-", ""),
      idempotencyKey: asked.idempotencyKey ?? id,
      progress: () => Effect.void,
      startedAt,
    }
  })

const resourceOf = (name: string): string => `tools/${name}`

const allowed = new Judgement({ verdict: "allow", rule: "identity" })
const denied = new Judgement({ verdict: "deny", rule: "identity" })

/** An identity's judgement of a tool. If it fails or throws, it denies (S4-25). */
export const authorize = (identity: Identity, principal: string, name: string): Effect.Effect<Judgement> => {
  try {
    const said = identity.authorize(principal, resourceOf(name), "execute")
    // Most answer synchronously: then there is nothing to wait for.
    if (Exit.isExit(said))
      return Effect.succeed(Exit.isSuccess(said) ? ((said.value as Judgement | undefined) ?? allowed) : denied)
    return Effect.matchCause(said, { onSuccess: (judgement) => judgement ?? allowed, onFailure: () => denied })
  } catch {
    return Effect.succeed(denied)
  }
}

/** Where tools are looked up: a registry, or one caller's view of several. */
export interface ToolLookup<T> {
  readonly find: (name: string) => T | undefined
  readonly names: () => ReadonlyArray<string>
}

/** The tool, or suggestions from those the caller may use. */
export const find = <T>(
  view: ToolLookup<T>,
  call: Pick<Call, "tool" | "principal">,
  identity: Identity,
): Effect.Effect<T, ToolNotFoundError> => {
  const tool = view.find(call.tool)
  return tool === undefined ? missing(view, call, identity) : Effect.succeed(tool)
}

const missing = Effect.fnUntraced(function* <T>(
  view: ToolLookup<T>,
  { principal, tool }: Pick<Call, "tool" | "principal">,
  identity: Identity,
) {
  const names: Array<string> = []
  for (const name of view.names()) {
    if (names.length >= maxNames) break
    if ((yield* authorize(identity, principal, name)).verdict !== "deny") names.push(name)
  }
  return yield* notFound(tool, names)
})

/** Refuses a denied call, if calls are judged at all. */
export const judge = (
  { security }: ToolsConfig,
  call: Pick<Call, "tool" | "principal">,
  judgement: Judgement,
): Effect.Effect<void, ToolAuthorizationError> =>
  !security.requireAuthorizationForAll || judgement.verdict !== "deny"
    ? Effect.void
    : Effect.fail(
        new ToolAuthorizationError({
          message: `Agent ${call.principal} not authorized to execute tool "${call.tool}"`,
          toolName: call.tool,
          agentId: call.principal,
        }),
      )

/** The arguments as the handler gets them: exactly what this returns (S4-26). */
export const validate = (
  tool: Pick<RegisteredTool, "definition" | "reviewed">,
  call: Pick<Call, "input" | "principal">,
): Effect.Effect<Call["input"], ToolValidationError> => {
  const { definition } = tool
  const extent = extentOf(call.input)
  if (extent.tooDeep)
    return new ToolValidationError({
      message: `The arguments of "${definition.name}" are nested more than ${deepest} deep`,
      toolName: definition.name,
      parameter: "",
      expected: `arguments at most ${deepest} deep`,
      received: "more than that",
    })
  return definition.inputSchema === undefined
    ? validateToolInput(definition, call.input)
    : validateWithSchema(definition, call.input, tool.reviewed, extent, call.principal)
}

/** Opens the call in the record. If it cannot be recorded, it fails: an unrecorded call must not run. */
export const record = <C, A, E>(
  records: { readonly open: (call: C) => Effect.Effect<A, E> },
  call: C,
): Effect.Effect<A, E> => Effect.suspend(() => records.open(call))

/** Whether a person must be asked: because of the judgement, the tool's flag, or its risk (S4-94, S4-95). */
export const mustAsk = (
  { security }: ToolsConfig,
  { definition }: Pick<RegisteredTool, "definition">,
  judgement?: Judgement,
): boolean =>
  judgement?.verdict === "ask" ||
  definition.requiresApproval ||
  (security.blockHighRiskWithoutApproval && (definition.riskLevel === "high" || definition.riskLevel === "critical"))

/** What an approval covers: this definition of the tool, with these arguments, by this agent. */
export const digestOfCall = (
  { definition, fingerprint }: Pick<RegisteredTool, "definition" | "fingerprint">,
  { input, principal }: Pick<Call, "input" | "principal">,
): string => digestOf([definition.name, fingerprint, principal, input])

/** The question that is bound to this call. */
const questionOf = (tool: Pick<RegisteredTool, "definition" | "fingerprint">, call: Call): Question => ({
  call: call.id,
  tool: tool.definition.name,
  principal: call.principal,
  input: call.input,
  riskLevel: tool.definition.riskLevel,
  digest: digestOfCall(tool, call),
})

/** Asks the question, and returns the present answer. */
export const ask = <C extends Call, E>(
  decisions: Decisions<C, E>,
  tool: Pick<RegisteredTool, "definition" | "fingerprint">,
  call: C,
): Effect.Effect<Answer, E> => Effect.suspend(() => decisions.ask(questionOf(tool, call), call))

/** A waiting or denied answer in seed 004's form: the call is not authorized, or not yet. */
export const refusalOf = (
  call: Pick<Call, "tool" | "principal">,
  answer: Answer,
): ToolAuthorizationError | undefined => {
  const name = call.tool
  const base = { toolName: name, agentId: call.principal }
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

/** Runs the handler within its time, and returns its checked result. Interrupting the effect interrupts the handler. */
export const execute = <C extends Pick<Call, "input" | "principal">>(
  tool: RegisteredTool<C>,
  call: C,
): Effect.Effect<unknown, ToolExecutionError | ToolTimeoutError | ToolValidationError> => {
  const { definition } = tool
  let made: Effect.Effect<unknown, ToolExecutionError | ToolTimeoutError>
  try {
    made = tool.handler(call.input, call)
  } catch (thrown) {
    return Effect.fail(crashed(definition.name, thrown))
  }
  const time = tool.keepsTime === true ? { ...definition, timeoutMs: Number.MAX_SAFE_INTEGER } : definition
  const result = inTime(time, made)
  return definition.outputSchema === undefined || tool.checksOutput === true
    ? result
    : Effect.flatMap(result, (value) => fitting(tool, call, value))
}

const fitting = Effect.fnUntraced(function* (
  { definition, reviewed }: Pick<RegisteredTool, "definition" | "reviewed">,
  { input, principal }: Pick<Call, "input" | "principal">,
  result: unknown,
) {
  const schema = yield* measureSchema(definition.name, "outputSchema", definition.outputSchema!)
  const fault = yield* checkAgainst(schema, result, { by: principal, reviewed })
  if (fault === undefined) return result
  return yield* new ToolExecutionError({
    message: `${definition.name} gave a result that does not fit its own schema: ${fault.path === "" ? "the result" : `"${fault.path}"`} ${faultText(fault)}`,
    toolName: definition.name,
    input,
  })
})

/** A failure as it is stored: its tag, its message, and its own fields; for a handler's error, only its tool. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof ToolExecutionError) return { tag: error._tag, message: error.message, toolName: error.toolName }
  if (!(error instanceof Error)) return { tag: "ToolExecutionError", message: String(error) }
  const { _tag: tag, cause: _cause, ...fields } = { ...error } as { readonly _tag?: string; readonly cause?: unknown }
  return { ...fields, tag: tag ?? "ToolExecutionError", message: error.message }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ToolAuthorizationError || error instanceof ToolValidationError || error instanceof ToolNotFoundError

/** How a call ended. */
export const settlementOf = (exit: Exit.Exit<unknown, unknown>, executionTimeMs: number): CallSettlement => {
  if (Exit.isSuccess(exit)) return { state: "done", output: exit.value, executionTimeMs }
  if (Cause.hasInterruptsOnly(exit.cause))
    return { state: "failed", error: { tag: "Interrupted", message: "It was interrupted" } }
  const error = Cause.squash(exit.cause)
  return { state: isRefusal(error) ? "refused" : "failed", error: failureOf(error) }
}

/** Counts a settled call in the metrics (S4-31). */
export const count = (done: boolean, durationMs: number): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => {
    executions.updateUnsafe(1, context)
    durations.updateUnsafe(Duration.millis(durationMs), context)
    if (!done) errors.updateUnsafe(1, context)
    return Effect.void
  })

/** Records how it ended, and counts it. Returns the record's result. */
export const settle = Effect.fnUntraced(function* <C extends Call, A, E>(
  records: Pick<CallRecord<C, A, E>, "settle">,
  call: C,
  settled: CallSettlement,
  durationMs: number,
) {
  const written = yield* records.settle(call, settled)
  yield* count(settled.state === "done", durationMs)
  return written
})
