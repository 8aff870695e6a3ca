/** The first limit that a run has reached, asked before every thought. Pure. */
import type { AgentLimits, StopReason } from "@stoa/contract"

export interface Used {
  readonly steps: number
  readonly tokens: number
  /** In millionths of a dollar. */
  readonly costMicros: number
  readonly busyMs: number
  readonly waits: number
  /** What its agent has spent today. */
  readonly today: { readonly tokens: number; readonly costMicros: number }
}

export interface Reached {
  readonly stop: StopReason
  readonly failure: string
}

const dollars = (micros: number): string => `${(micros / 1e6).toFixed(micros < 1e4 ? 6 : 2)} USD`

/** A limit of nothing is a limit: 0 steps are none. */
export const reached = (limits: AgentLimits, used: Used): Reached | undefined => {
  const past = (limit: number | undefined, value: number): limit is number => limit !== undefined && value >= limit
  const micros = (limit: number | undefined) => (limit === undefined ? undefined : limit * 1e6)
  if (past(limits.steps, used.steps))
    return { stop: "max_steps", failure: `It has taken the ${limits.steps} steps a run of its agent may take.` }
  if (past(limits.tokens, used.tokens))
    return { stop: "max_tokens_exceeded", failure: `It has used ${used.tokens} of ${limits.tokens} tokens.` }
  if (past(micros(limits.cost), used.costMicros) && used.costMicros > 0)
    return { stop: "max_cost", failure: `It has spent ${dollars(used.costMicros)} of ${limits.cost} USD.` }
  if (past(limits.minutes === undefined ? undefined : limits.minutes * 60_000, used.busyMs))
    return { stop: "max_minutes", failure: `It has worked for the ${limits.minutes} minutes a run of its agent may.` }
  const { cost, tokens } = limits.perDay ?? {}
  if (past(micros(cost), used.today.costMicros) && (used.today.costMicros > 0 || cost === 0))
    return {
      stop: "budget_spent",
      failure: `Its agent has spent ${dollars(used.today.costMicros)} of ${cost} USD today.`,
    }
  if (past(tokens, used.today.tokens))
    return { stop: "budget_spent", failure: `Its agent has used ${used.today.tokens} of ${tokens} tokens today.` }
  return undefined
}
