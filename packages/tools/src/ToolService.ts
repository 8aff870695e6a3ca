/** The library's service: runs all steps of a call in one go, over its own registry. */
import {
  type FunctionCallingTool,
  type ToolDefinition,
  ToolExecutionError,
  type ToolInput,
  type ToolNotFoundError,
  type ToolOutput,
  ToolValidationError,
} from "@stoa/contract"
import { Cause, Context, Effect, Exit, Layer, Scope } from "effect"
import { monotonicMillis } from "./monotonic.ts"
import type { OpenAITool } from "./registry/functionCalling.ts"
import type { Tool, ToolHandler } from "./Handler.ts"
import { makeMCPTools, type MCPTools } from "./registry/mcpTools.ts"
import {
  type Answer,
  AuditPort,
  type Call,
  type CallRecord,
  CostsPort,
  DecisionsPort,
  EventsPort,
  identityStandard,
  IdentityPort,
  type OpenResult,
  type CallSettlement,
} from "./road/Ports.ts"
import { RecordPort } from "./road/RecordMemory.ts"
import { type RegisteredTool, Registry, type ToolFilter } from "./registry/Registry.ts"
import {
  ask,
  authorize,
  begin,
  execute,
  find,
  judge,
  mustAsk,
  record,
  refusalOf,
  settle,
  settlementOf,
  type ToolError,
  validate,
} from "./road/road.ts"
import { builtinSkills } from "./skills/builtin.ts"
import { CurrentToolsConfig } from "./ToolsConfig.ts"

export class ToolService extends Context.Service<
  ToolService,
  {
    readonly execute: (input: ToolInput) => Effect.Effect<ToolOutput, ToolError>
    /** Never fails: a tool that cannot be registered is left out, logged, and reported as `tools.rejected` (S4-34). */
    readonly register: (
      definition: ToolDefinition,
      handler: ToolHandler,
      options?: Pick<Tool, "cost">,
    ) => Effect.Effect<void>
    readonly unregister: (name: string) => Effect.Effect<boolean>
    readonly listTools: (filter?: ToolFilter) => Effect.Effect<ReadonlyArray<ToolDefinition>>
    readonly getTool: (name: string) => Effect.Effect<ToolDefinition, ToolNotFoundError>
    readonly toFunctionCallingFormat: () => Effect.Effect<ReadonlyArray<FunctionCallingTool>>
    readonly toOpenAIFormat: () => Effect.Effect<ReadonlyArray<OpenAITool>>
    /** Connects, and registers each tool as `<server>/<tool>`. */
    readonly connectMCPServer: MCPTools["connectMCPServer"]
    /** Its tools are gone with it (S4-40). */
    readonly disconnectMCPServer: MCPTools["disconnectMCPServer"]
    readonly listMCPServers: MCPTools["listMCPServers"]
    /** The registry itself, for programs that compose the road differently. */
    readonly registry: Registry
  }
>()("tools/ToolService") {}

const approved: Answer = { state: "approved" }

/** How far a call has come: it `settles`, `waits` for a decision, or was recorded `before`. */
interface Stage {
  readonly call: Call
  readonly is: "settles" | "waits" | "before"
  /** Once it is found. */
  readonly tool?: RegisteredTool
}

const make = Effect.gen(function* () {
  const registry = new Registry(yield* CurrentToolsConfig)
  const mcp = yield* makeMCPTools(registry, rejected)
  // Ports provided with the layer apply to every call; ports provided around one call override them for that call.
  const built = Context.omit(Scope.Scope)(yield* Effect.context<never>())
  const withPorts = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.updateContext(effect, (around: Context.Context<never>) => Context.merge(built, around))

  /**
   * Find, judge, validate, record, ask, execute. `reach` reports how far the call came, to the code that settles it.
   */
  const walk = Effect.fnUntraced(function* (begun: Call, reach: (stage: Stage) => void) {
    const identity = yield* IdentityPort
    const config = yield* CurrentToolsConfig
    const records = yield* RecordPort
    const tool = yield* find(registry, begun, identity)
    // From here on the tool has one name, whichever of its two names was used.
    const named = { ...begun, tool: tool.definition.name }
    reach({ call: named, is: "settles" })
    const judgement = yield* authorize(identity, named.principal, named.tool)
    yield* judge(config, named, judgement)
    const call = { ...named, input: yield* validate(tool, named) }
    const opened = yield* Effect.mapError(record(records, call), (cause) => unrecorded(call, cause))
    if (opened.state === "settled") {
      reach({ call, is: "before" })
      return yield* replay(call, opened.settled)
    }
    if (opened.state === "running" || opened.state === "other") {
      reach({ call, is: "before" })
      return yield* taken(call, opened)
    }
    const answer = mustAsk(config, tool, judgement) ? yield* asked(tool, call) : approved
    reach({ call, is: answer.state === "waiting" ? "waits" : "settles", tool })
    if (answer.state === "waiting") yield* wait(records, call, answer.decision)
    const refusal = refusalOf(call, answer)
    if (refusal !== undefined) return yield* refusal
    return yield* execute(tool, call)
  })

  const run = Effect.fn("tools.execute")(function* (input: ToolInput) {
    const begun = yield* begin({
      tool: input.toolName,
      input: input.arguments,
      principal: input.agentId,
      space: input.sessionId,
      correlationId: input.correlationId,
      idempotencyKey: input.idempotencyKey,
    })
    yield* Effect.annotateCurrentSpan({
      tool: begun.tool,
      agent: begun.principal,
      correlationId: begun.correlationId,
    })
    let stage: Stage = { call: begun, is: "settles" }
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.exit(restore(walk(begun, (now) => (stage = now)))), (exit) =>
        Effect.andThen(
          account(stage, exit),
          Effect.flatMap(exit, (made) => outputOf(stage, made)),
        ),
      ),
    )
  })

  /** A waiting call is not settled yet, and a repeated one is not settled twice. */
  const account = ({ call, is, tool }: Stage, exit: Exit.Exit<unknown, ToolError>): Effect.Effect<void> =>
    is === "settles"
      ? Effect.andThen(settled(call, exit), charged(tool, call, exit))
      : is === "waits"
        ? noteWaiting(call)
        : Effect.void

  const outputOf = ({ call, is }: Stage, made: unknown): Effect.Effect<ToolOutput> =>
    is === "before"
      ? Effect.succeed(made as ToolOutput)
      : Effect.map(monotonicMillis, (now) => ({
          toolName: call.tool,
          success: true,
          result: made,
          executionTimeMs: Math.max(0, Math.round(now - call.startedAt)),
        }))

  const register: ToolService["Service"]["register"] = Effect.fnUntraced(function* (definition, handler, options) {
    yield* Effect.catch(registry.add({ ...options, definition, handler }), rejected)
  })

  return ToolService.of({
    execute: (input) => withPorts(run(input)),
    register: (definition, handler, options) => withPorts(register(definition, handler, options)),
    unregister: (name) => Effect.sync(() => registry.remove(name)),
    listTools: (filter) => Effect.sync(() => registry.list(filter)),
    getTool: (name) => Effect.map(registry.get(name), (tool) => tool.definition),
    toFunctionCallingFormat: () => Effect.sync(() => registry.formats().anthropic),
    toOpenAIFormat: () => Effect.sync(() => registry.formats().openai),
    ...mcp,
    registry,
  })
})

const unrecorded = (call: Call, cause: unknown): ToolExecutionError =>
  new ToolExecutionError({
    message: `The call could not be recorded, and was not run: ${String(cause)}`,
    toolName: call.tool,
    cause,
  })

/** The first outcome of a repeated call. */
const replay = (call: Call, settled: CallSettlement): Effect.Effect<ToolOutput, ToolExecutionError> =>
  settled.state === "done"
    ? Effect.succeed({
        toolName: call.tool,
        success: true,
        result: settled.output,
        executionTimeMs: settled.executionTimeMs,
        metadata: { replayed: true },
      })
    : new ToolExecutionError({
        message: `This call was made before and did not succeed: ${settled.error.message}`,
        toolName: call.tool,
        input: call.input,
      })

/** A failure to ask counts as a no. */
const asked = (tool: RegisteredTool, call: Call): Effect.Effect<Answer> =>
  Effect.flatMap(DecisionsPort, (decisions) => ask(decisions, tool, call)).pipe(
    Effect.catchCause((cause) =>
      Effect.succeed<Answer>({ state: "denied", reason: `it could not be asked: ${String(Cause.squash(cause))}` }),
    ),
  )

/** What is written after a call must not change its outcome. */
const quietly = (what: string, write: () => Effect.Effect<void, unknown>): Effect.Effect<void> =>
  Effect.suspend(write).pipe(
    Effect.catchCause((cause) => Effect.logWarning(`A call was settled, but its ${what} could not be written`, cause)),
  )

/** Settles any outcome: record and metrics, audit, event (S4-28 … S4-31). */
const settled = Effect.fnUntraced(function* (call: Call, exit: Exit.Exit<unknown, ToolError>) {
  const durationMs = Math.max(0, Math.round((yield* monotonicMillis) - call.startedAt))
  const outcome: CallSettlement = settlementOf(exit, durationMs)
  const records = yield* RecordPort
  const audit = yield* AuditPort
  const events = yield* EventsPort
  yield* quietly("record", () => settle(records, call, outcome, durationMs))
  const result =
    outcome.state === "done" ? "success" : outcome.error.tag === "ToolAuthorizationError" ? "denied" : "failure"
  yield* quietly("audit", () =>
    audit.record({
      agentId: call.principal,
      sessionId: call.space ?? "",
      action: "tool.execute",
      resource: `tools/${call.tool}`,
      result,
      durationMs,
      metadata: {
        correlationId: call.correlationId,
        callId: call.id,
        ...(outcome.state === "done" ? {} : { errorTag: outcome.error.tag }),
      },
    }),
  )
  const told = { toolName: call.tool, executionTimeMs: durationMs }
  yield* quietly("event", () => {
    if (outcome.state === "done") return events.publish({ type: "tools.executed", payload: { ...told, success: true } })
    const { message, tag } = outcome.error
    return events.publish({ type: "tools.failed", payload: { ...told, success: false, error: { tag, message } } })
  })
})

/** What a result has cost, if its tool says so. A tool that cannot say has cost nothing that is known. */
const charged = (tool: RegisteredTool | undefined, call: Call, exit: Exit.Exit<unknown, ToolError>) =>
  quietly("cost", () => {
    const cost = Exit.isSuccess(exit) ? tool?.cost?.(exit.value) : undefined
    if (cost === undefined || !Number.isFinite(cost) || cost <= 0) return Effect.void
    const { correlationId, id: callId, principal: agentId, tool: toolName } = call
    const entry = { agentId, sessionId: call.space ?? "", toolName, callId, correlationId, cost }
    return Effect.flatMap(CostsPort, (costs) => costs.record(entry))
  })

const wait = (records: CallRecord, call: Call, decision: string) =>
  Effect.mapError(
    records.wait(call, decision),
    (cause) =>
      new ToolExecutionError({
        message: `The call could not be recorded: ${String(cause)}`,
        toolName: call.tool,
        cause,
      }),
  )

const taken = (call: Call, opened: Extract<OpenResult, { readonly state: "running" | "other" }>) =>
  opened.state === "running"
    ? new ToolExecutionError({ message: `This call of "${call.tool}" is still running`, toolName: call.tool })
    : new ToolValidationError({
        message: `The call was refused: ${opened.reason}. Take a new key for a new call`,
        toolName: call.tool,
        parameter: "idempotencyKey",
        expected: "a key of its own",
        received: call.idempotencyKey,
      })

/** A question is reported, although it settles nothing. */
const noteWaiting = (call: Call): Effect.Effect<void> =>
  Effect.logDebug(`Call ${call.id} of ${call.tool} waits for a decision`)

const rejected = (error: ToolValidationError) =>
  Effect.gen(function* () {
    yield* Effect.logWarning(error.message)
    const events = yield* EventsPort
    const { expected, message, parameter, received, toolName } = error
    yield* Effect.ignoreCause(
      events.publish({ type: "tools.rejected", payload: { toolName, message, parameter, expected, received } }),
    )
  })

/** Without tools of its own (S4-82), and with whatever ports the program provides. */
export const ToolServiceLive: Layer.Layer<ToolService> = Layer.effect(ToolService, make)

/** With the built-in skills that the configuration names: all five, unless it says otherwise (S4-82, S4-83). */
export const ToolServiceBuiltin: Layer.Layer<ToolService> = Layer.effect(
  ToolService,
  Effect.gen(function* () {
    const tools = yield* make
    const { builtinTools } = yield* CurrentToolsConfig
    for (const skill of builtinSkills)
      if (builtinTools.includes(skill.definition.name)) yield* tools.register(skill.definition, skill.handler)
    return tools
  }),
)

/** Refuses to be built with the default identity, which lets every agent request every tool. */
export const ToolServiceStrict: Layer.Layer<ToolService> = Layer.effect(
  ToolService,
  Effect.flatMap(IdentityPort, (identity) =>
    identity === identityStandard
      ? Effect.die(
          new Error("Strict tools need an identity of your own: provide IdentityPort, or use ToolServiceLive."),
        )
      : make,
  ),
)
