/**
 * What a tool call needs from outside, as ports. Each has a working default, so a program without a server can use
 * tools; the server provides its rooms instead.
 */
import type { Judgement, RiskLevel } from "@stoa/contract"
import { Context, Effect } from "effect"
import type { CallContext } from "../Handler.ts"

/**
 * May the agent call the tool? Any failure, even a crash, means no (S4-25). Success without a judgement, or with one that
 * does not deny, means yes.
 */
export interface Identity {
  readonly authorize: (
    principal: string,
    resource: string,
    action: "execute",
  ) => Effect.Effect<void | Judgement, unknown>
}

/** Role agent-standard: every tool may be requested. Risk and approval are judged separately. */
export const identityStandard: Identity = { authorize: () => Effect.void }

export const IdentityPort = Context.Reference<Identity>("tools/Identity", { defaultValue: () => identityStandard })

export interface AuditRecord {
  readonly agentId: string
  readonly sessionId: string
  readonly action: "tool.execute"
  readonly resource: string
  readonly result: "success" | "failure" | "denied"
  readonly durationMs: number
  readonly metadata: { readonly correlationId: string; readonly callId: string; readonly errorTag?: string }
}

export interface ToolEvent {
  readonly type: "tools.executed" | "tools.failed" | "tools.rejected" | "tools.mcp-connected" | "tools.mcp-disconnected"
  readonly payload: Readonly<Record<string, unknown>>
}

/** Calls its listeners, if any; a listener that throws does no harm. */
class Listeners<A> {
  readonly #all = new Set<(item: A) => void>()
  listen(hear: (item: A) => void): () => void {
    this.#all.add(hear)
    return () => void this.#all.delete(hear)
  }
  readonly tell = (item: A): Effect.Effect<void> =>
    Effect.suspend(() =>
      Effect.forEach([...this.#all], (hear) => Effect.ignoreCause(Effect.sync(() => hear(item))), { discard: true }),
    )
}

/** An audit that fails never fails the call (S4-29). */
export interface Audit {
  readonly record: (entry: AuditRecord) => Effect.Effect<void, unknown>
}
export const auditListeners = new Listeners<AuditRecord>()
export const AuditPort = Context.Reference<Audit>("tools/Audit", {
  defaultValue: () => ({ record: auditListeners.tell }),
})

/** What the result of a call has cost, as its tool states it. */
export interface CostRecord {
  readonly agentId: string
  readonly sessionId: string
  readonly toolName: string
  readonly callId: string
  readonly correlationId: string
  /** US dollars. */
  readonly cost: number
}

/** Costs that cannot be written never fail the call, which has already run. */
export interface Costs {
  readonly record: (entry: CostRecord) => Effect.Effect<void, unknown>
}
export const costListeners = new Listeners<CostRecord>()
export const CostsPort = Context.Reference<Costs>("tools/Costs", {
  defaultValue: () => ({ record: costListeners.tell }),
})

export interface Events {
  readonly publish: (event: ToolEvent) => Effect.Effect<void, unknown>
}
export const eventListeners = new Listeners<ToolEvent>()
export const EventsPort = Context.Reference<Events>("tools/Events", {
  defaultValue: () => ({ publish: eventListeners.tell }),
})

/** A question to a person, bound to the exact call: an answer to one call is no answer to another. */
export interface Question {
  readonly call: string
  readonly tool: string
  readonly principal: string
  readonly input: Readonly<Record<string, unknown>>
  readonly riskLevel: RiskLevel
  /** Digest of tool, definition and arguments: only what was approved runs. */
  readonly digest: string
}

export type Answer =
  | { readonly state: "approved"; readonly decision?: string }
  | { readonly state: "denied"; readonly decision?: string; readonly reason?: string }
  | { readonly state: "waiting"; readonly decision: string }

export interface Decisions<C = Call, E = unknown> {
  readonly ask: (question: Question, call: C) => Effect.Effect<Answer, E>
}
/** If there is nobody to ask, the answer is no. */
export const decisionsRefuse: Decisions = {
  ask: () => Effect.succeed({ state: "denied", reason: "nobody is there to approve it" }),
}
export const DecisionsPort = Context.Reference<Decisions>("tools/Decisions", { defaultValue: () => decisionsRefuse })

/** One attempt to use a tool, from receipt to settlement. */
export interface Call extends CallContext {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** When it began, on the monotonic clock: only for durations. */
  readonly startedAt: number
}

export type CallSettlement =
  | { readonly state: "done"; readonly output: unknown; readonly executionTimeMs: number }
  | { readonly state: "failed" | "refused"; readonly error: Failure }

/** Why it did not succeed: the error's tag, its message, and its own fields. */
export type Failure = { readonly tag: string; readonly message: string } & Readonly<Record<string, unknown>>

/**
 * What is recorded of a call, so that the same agent, tool and idempotency key mean the same call.
 * `new` and `waiting` let the caller continue (for a waiting one the question was asked before); `running` must not run
 * twice.
 */
export type OpenResult =
  | { readonly state: "new" }
  | { readonly state: "waiting" }
  | { readonly state: "running" }
  | { readonly state: "other"; readonly reason: string }
  | { readonly state: "settled"; readonly settled: CallSettlement }

export interface CallRecord<C = Call, A = void, E = unknown> {
  readonly open: (call: C) => Effect.Effect<OpenResult, E>
  /** It waits for a decision: nothing runs, and the next attempt continues from here. */
  readonly wait: (call: C, decision: string) => Effect.Effect<void, E>
  readonly settle: (call: C, settled: CallSettlement) => Effect.Effect<A, E>
}
