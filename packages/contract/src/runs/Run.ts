/** A run: an agent's durable work. Something wakes it, it works in steps, it may wait, it ends. */
import { Schema } from "effect"
import { AgentLimits } from "./Agent.ts"
import { CallState, WaitsOn } from "../tools/Call.ts"
import { CallId, DecisionId, MessageId, Moment, MomentOrNull, PrincipalId, RunId, SpaceId } from "../Ids.ts"

export const RunState = Schema.Literals([
  "queued",
  "running",
  "waiting_tool",
  "waiting_reply",
  "completed",
  "failed",
  "canceled",
])
export type RunState = typeof RunState.Type

/** Why it ended. If several limits are reached, the first one is named. */
export const StopReason = Schema.Literals([
  "end_turn",
  "no_tool_call",
  "max_steps",
  "max_tokens_exceeded",
  "max_cost",
  "max_minutes",
  "budget_spent",
  "invalid_tool_call",
  "no_answer",
  "error",
  "crashed",
  "cancelled",
  "paused",
  "retired",
])
export type StopReason = typeof StopReason.Type

/** What woke it. */
export const TriggerKind = Schema.Literals(["message", "plan", "service", "agent"])
export type TriggerKind = typeof TriggerKind.Type

const RunTrigger = Schema.Struct({
  kind: TriggerKind,
  /** In a few words. */
  summary: Schema.String,
  message: Schema.optionalKey(MessageId),
  space: Schema.optionalKey(SpaceId),
})

/** An agent waits for answers to a message. */
export class RunWait extends Schema.Class<RunWait>("RunWait")({
  id: Schema.String,
  run: Schema.NullOr(RunId),
  /** The call that waits; absent if the wait belongs to the run itself, as in a team. */
  call: Schema.optionalKey(CallId),
  /** Who waits. */
  agent: PrincipalId,
  space: SpaceId,
  message: MessageId,
  state: Schema.Literals(["open", "resolved", "timeout", "partial_timeout", "silent", "released", "canceled"]),
  /** How many answers are enough. */
  needed: Schema.Int,
  /** Whose answers; empty: anybody's. */
  for: Schema.Array(
    Schema.Struct({ id: PrincipalId, state: Schema.Literals(["awaited", "replied", "gone", "silent"]) }),
  ),
  /** The principals here wait for each other, in a ring. */
  ring: Schema.Boolean,
  since: Moment,
  /** Its deadline; null: none. */
  until: MomentOrNull,
  /** When it ended, in any way; null while it is open. */
  endedAt: MomentOrNull,
}) {}

export class Run extends Schema.Class<Run>("Run")({
  id: RunId,
  agent: PrincipalId,
  state: RunState,
  /** Why it ended; null until it has. */
  stop: Schema.NullOr(StopReason),
  /** What went wrong, and what to do about it. */
  failure: Schema.optionalKey(Schema.String),
  /** How many steps it has taken. */
  step: Schema.Int,
  trigger: RunTrigger,
  /** The space it is in. */
  space: Schema.NullOr(SpaceId),
  /** How many agents woke each other before it: 0 if a person, a plan or a service woke it. */
  depth: Schema.Int,
  /** The outermost run it works for, or itself. */
  root: RunId,
  /** The call that waits for it. */
  parent: Schema.optionalKey(CallId),
  /** The run that this one retries. */
  retryOf: Schema.optionalKey(RunId),
  /** What it waits for. */
  waitsFor: Schema.optionalKey(Schema.Array(Schema.Struct({ kind: Schema.String, id: Schema.String }))),
  /** Whose answers it has waited for and waits for, oldest first; only if a single run is read. */
  waits: Schema.optionalKey(Schema.Array(RunWait)),
  limits: AgentLimits,
  tokens: Schema.Struct({ in: Schema.Int, out: Schema.Int }),
  /** In US dollars. */
  cost: Schema.Finite,
  createdAt: Moment,
  startedAt: MomentOrNull,
  endedAt: MomentOrNull,
}) {}

/** A call that a step asked for, with its outcome. */
const StepCall = Schema.Struct({
  place: Schema.Int,
  tool: Schema.String,
  input: Schema.Unknown,
  /** Absent until it is made. */
  call: Schema.optionalKey(CallId),
  state: Schema.optionalKey(CallState),
  /** The rule that allowed or refused it. */
  rule: Schema.optionalKey(Schema.String),
  beganAt: Schema.optionalKey(Moment),
  endedAt: Schema.optionalKey(Moment),
  /** What it waits for. */
  on: Schema.optionalKey(WaitsOn),
  /** What people were asked before it ran; without an end, it still waits for them. */
  decisions: Schema.optionalKey(
    Schema.Array(Schema.Struct({ id: DecisionId, askedAt: Moment, endedAt: Schema.optionalKey(Moment) })),
  ),
})

/** One step: what the model said and asked for. */
export class RunStep extends Schema.Class<RunStep>("RunStep")({
  number: Schema.Int,
  state: Schema.Literals(["thinking", "said", "cut"]),
  text: Schema.String,
  reasoning: Schema.optionalKey(Schema.String),
  /** The first 200; the messages of the run have all. */
  calls: Schema.Array(StepCall),
  callsLeftOut: Schema.optionalKey(Schema.Int),
  /** Whose answers it waited for, and until when; names the call that waited. */
  waits: Schema.optionalKey(Schema.Array(RunWait)),
  finish: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  tokens: Schema.Struct({ in: Schema.Int, out: Schema.Int, cached: Schema.Int }),
  cost: Schema.Finite,
  beganAt: Moment,
  saidAt: MomentOrNull,
}) {}

/** What a run told its model and got from it, in seed 000's five kinds: a projection of steps and calls. */
export class RunMessage extends Schema.Class<RunMessage>("RunMessage")({
  seq: Schema.Int,
  kind: Schema.Literals([
    "system_message",
    "user_message",
    "assistant_message",
    "tool_call_message",
    "tool_return_message",
  ]),
  step: Schema.Int,
  text: Schema.optionalKey(Schema.String),
  call: Schema.optionalKey(CallId),
  tool: Schema.optionalKey(Schema.String),
  input: Schema.optionalKey(Schema.Unknown),
  output: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ tag: Schema.String, message: Schema.String })),
  state: Schema.optionalKey(CallState),
}) {}

/** The step to retry a run from; absent: from the beginning. */
export const RunRetry = Schema.Struct({
  step: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))),
}).annotate({ identifier: "RunRetry" })

/** What a service tells an agent. */
export const NewTrigger = Schema.Struct({
  text: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(65_536)),
  /** The space the agent then works in, by id or name. */
  space: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
}).annotate({ identifier: "NewTrigger" })

/** The result of a call that a run waits for: the same as `calls/:id/result`. */
export const RunToolResult = Schema.Struct({
  callId: CallId,
  result: Schema.Unknown as unknown as Schema.Codec<Schema.Json>,
}).annotate({ identifier: "RunToolResult" })

/** An event that could not be handled, however often it was tried: kept for a person to look at. */
export class DeadLetter extends Schema.Class<DeadLetter>("DeadLetter")({
  id: Schema.String,
  /** The kind of the event. */
  kind: Schema.String,
  /** Its position in the journal. */
  cursor: Schema.Int,
  failure: Schema.String,
  tried: Schema.Int,
  at: Moment,
  state: Schema.Literals(["open", "retried", "dismissed"]),
}) {}

/** What a principal's runs and tools cost on one day, in UTC. */
export class Spend extends Schema.Class<Spend>("Spend")({
  principal: PrincipalId,
  day: Schema.String,
  tokens: Schema.Struct({ in: Schema.Int, out: Schema.Int }),
  /** In US dollars. */
  cost: Schema.Finite,
  /** The cost of agents that worked at its request, in addition to its own. */
  caused: Schema.Finite,
  /** What it cost that this principal woke agents, with everything that followed from it. */
  woken: Schema.Struct({ cost: Schema.Finite, tokens: Schema.Int }),
}) {}

/** What was spent, the newest day first, and what the house has left this month. */
export class SpendReport extends Schema.Class<SpendReport>("SpendReport")({
  items: Schema.Array(Spend),
  month: Schema.Struct({
    name: Schema.String,
    /** Of all principals you see. */
    cost: Schema.Finite,
    /** The house's limit; null: none. */
    limit: Schema.NullOr(Schema.Finite),
  }),
}) {}
