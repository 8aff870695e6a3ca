/** Seed 004's service: the road walked in one go, over a registry of its own. */
import {
  type FunctionCallingTool,
  type ToolDefinition,
  ToolExecutionError,
  type ToolInput,
  type ToolNotFoundError,
  type ToolOutput,
  ToolValidationError,
} from "@stoa/contract"
import { Clock, Context, Effect, type Exit, Layer, Scope } from "effect"
import type { OpenAITool } from "./functionCalling.ts"
import type { ToolHandler } from "./Handler.ts"
import { makeMCPTools, type MCPTools } from "./mcpTools.ts"
import { type Call, EventsPort, identityStandard, IdentityPort, type Opened } from "./Ports.ts"
import { RecordPort } from "./RecordMemory.ts"
import { Registry, type ToolFilter } from "./Registry.ts"
import {
  ask,
  begin,
  execute,
  find,
  judge,
  record,
  refusalOf,
  replay,
  settle,
  type ToolError,
  validate,
} from "./road.ts"
import { builtinSkills } from "./skills/builtin.ts"
import { CurrentToolsConfig } from "./ToolsConfig.ts"

export class ToolService extends Context.Service<
  ToolService,
  {
    readonly execute: (input: ToolInput) => Effect.Effect<ToolOutput, ToolError>
    /** Never fails: what cannot be registered is left out, logged, and told as `tools.rejected` (S4-34). */
    readonly register: (definition: ToolDefinition, handler: ToolHandler) => Effect.Effect<void>
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
    /** The registry itself, for whoever composes the road in another way. */
    readonly registry: Registry
  }
>()("tools/ToolService") {}

interface Reached {
  readonly call: Call
  readonly state: "done" | "waiting" | "before"
}

const make = Effect.gen(function* () {
  const registry = new Registry(yield* CurrentToolsConfig)
  const mcp = yield* makeMCPTools(registry, rejected)
  // Ports provided with the layer hold for every call; what a caller provides around one call wins for that call.
  const built = Context.omit(Scope.Scope)(yield* Effect.context<never>())
  const withPorts = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.updateContext(effect, (around: Context.Context<never>) => Context.merge(built, around))

  /** Find, judge, validate, record, ask, execute. Says how far the call came, for whoever settles it. */
  const walk = Effect.fnUntraced(function* (begun: Call, reach: (reached: Reached) => void) {
    const tool = yield* find(registry, begun)
    // From here on the tool has one name, whichever of its two it was called by.
    const named = { ...begun, toolName: tool.definition.name }
    reach({ call: named, state: "done" })
    yield* judge(tool, named)
    const call = { ...named, arguments: yield* validate(tool, named) }
    const opened = yield* record(call)
    if (opened.state === "settled") {
      reach({ call, state: "before" })
      return yield* replay(call, opened.settled)
    }
    if (opened.state === "running" || opened.state === "other") {
      reach({ call, state: "before" })
      return yield* taken(call, opened)
    }
    const answer = yield* ask(tool, call)
    const refusal = refusalOf(tool, call, answer)
    if (answer.state === "waiting") {
      reach({ call, state: "waiting" })
      yield* wait(call, answer.decision)
    } else reach({ call, state: "done" })
    if (refusal !== undefined) return yield* refusal
    return yield* execute(tool, call)
  })

  const run = Effect.fn("tools.execute")(function* (input: ToolInput) {
    const begun = yield* begin(input)
    yield* Effect.annotateCurrentSpan({
      tool: input.toolName,
      agent: input.agentId,
      correlationId: begun.correlationId,
    })
    let reached: Reached = { call: begun, state: "done" }
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.exit(restore(walk(begun, (now) => (reached = now)))), (exit) =>
        Effect.andThen(
          account(reached, exit),
          Effect.flatMap(exit, (made) => outputOf(reached, made)),
        ),
      ),
    )
  })

  /** A call that waits is not settled yet, and one that came before is not settled twice. */
  const account = ({ call, state }: Reached, exit: Exit.Exit<unknown, ToolError>): Effect.Effect<void> =>
    state === "done" ? Effect.asVoid(settle(call, exit)) : state === "waiting" ? noteWaiting(call) : Effect.void

  const outputOf = ({ call, state }: Reached, made: unknown): Effect.Effect<ToolOutput> =>
    state === "before"
      ? Effect.succeed(made as ToolOutput)
      : Effect.map(Clock.currentTimeMillis, (now) => ({
          toolName: call.toolName,
          success: true,
          result: made,
          executionTimeMs: Math.max(0, now - call.startedAt),
        }))

  const register: ToolService["Service"]["register"] = Effect.fnUntraced(function* (definition, handler) {
    yield* Effect.catch(registry.add({ definition, handler }), rejected)
  })

  return ToolService.of({
    execute: (input) => withPorts(run(input)),
    register: (definition, handler) => withPorts(register(definition, handler)),
    unregister: (name) => Effect.sync(() => registry.remove(name)),
    listTools: (filter) => Effect.sync(() => registry.list(filter)),
    getTool: (name) => Effect.map(registry.get(name), (tool) => tool.definition),
    toFunctionCallingFormat: () => Effect.sync(() => registry.formats().anthropic),
    toOpenAIFormat: () => Effect.sync(() => registry.formats().openai),
    ...mcp,
    registry,
  })
})

const wait = (call: Call, decision: string) =>
  Effect.flatMap(RecordPort, (port) =>
    Effect.mapError(
      port.wait(call, decision),
      (cause) =>
        new ToolExecutionError({
          message: `The call could not be recorded: ${String(cause)}`,
          toolName: call.toolName,
          cause,
        }),
    ),
  )

const taken = (call: Call, opened: Extract<Opened, { readonly state: "running" | "other" }>) =>
  opened.state === "running"
    ? new ToolExecutionError({ message: `This call of "${call.toolName}" is still running`, toolName: call.toolName })
    : new ToolValidationError({
        message: `The call was refused: ${opened.reason}. Take a new key for a new call`,
        toolName: call.toolName,
        parameter: "idempotencyKey",
        expected: "a key of its own",
        received: call.idempotencyKey,
      })

/** A question that was put is worth knowing of, though nothing is settled by it. */
const noteWaiting = (call: Call): Effect.Effect<void> =>
  Effect.logDebug(`Call ${call.id} of ${call.toolName} waits for a decision`)

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

/** Refuses to be built over the default identity, which lets every agent ask for every tool. */
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
