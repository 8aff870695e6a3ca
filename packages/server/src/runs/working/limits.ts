/** The first limit that a run has reached, checked before every model request. Pure. */
import type { AgentLimits, StopReason } from "@stoa/contract"

export interface RunUse {
  readonly steps: number
  readonly tokens: number
  /** In millionths of a dollar. */
  readonly costMicros: number
  readonly busyMs: number
  readonly waits: number
  /** Budgets beyond its own: per day and per month. */
  readonly budgets: ReadonlyArray<BudgetUse>
}

/** A budget, and what is spent of it. */
export interface BudgetUse {
  /** Whose budget, as the beginning of a sentence. */
  readonly name: string
  readonly period: string
  readonly costMicros: number
  readonly tokens: number
  readonly limits: { readonly cost?: number; readonly tokens?: number }
  /** What to do when it is spent. */
  readonly advice?: string
}

export interface LimitHit {
  readonly stop: StopReason
  readonly failure: string
}

const dollars = (micros: number): string => `${(micros / 1e6).toFixed(micros < 1e4 ? 6 : 2)} USD`

/** Zero is a limit too: 0 steps means none. */
export const findExceededLimit = (limits: AgentLimits, used: RunUse): LimitHit | undefined => {
  const past = (limit: number | undefined, value: number): limit is number => limit !== undefined && value >= limit
  const micros = (limit: number | undefined) => (limit === undefined ? undefined : limit * 1e6)
  if (past(limits.steps, used.steps))
    return { stop: "max_steps", failure: `It has taken the ${limits.steps} steps a run of its agent may take.` }
  if (past(limits.tokens, used.tokens))
    return { stop: "max_tokens_exceeded", failure: `It has used ${used.tokens} of ${limits.tokens} tokens.` }
  // A run without costs is not stopped, unless the limit is zero.
  if (past(micros(limits.cost), used.costMicros) && (used.costMicros > 0 || limits.cost === 0))
    return { stop: "max_cost", failure: `It has spent ${dollars(used.costMicros)} of ${limits.cost} USD.` }
  if (past(limits.minutes === undefined ? undefined : limits.minutes * 60_000, used.busyMs))
    return { stop: "max_minutes", failure: `It has worked for the ${limits.minutes} minutes a run of its agent may.` }
  for (const budget of used.budgets) {
    const failure = exceededBudget(budget)
    if (failure !== undefined) return { stop: "budget_spent", failure }
  }
  return undefined
}

/** Which limit is reached, or would be exceeded by `more`; undefined: there is enough. */
export const exceededBudget = (
  { advice, costMicros, limits, name, period, tokens }: BudgetUse,
  more = 0,
): string | undefined => {
  const next = advice === undefined ? "" : ` ${advice}`
  const most = limits.cost === undefined ? undefined : limits.cost * 1e6
  // Without costs a budget stops nothing, unless it is zero.
  if (
    most !== undefined &&
    (more > 0 ? costMicros + more > most : costMicros >= most && (costMicros > 0 || most === 0))
  )
    return `${name} has spent ${dollars(costMicros)} of ${limits.cost} USD ${period}.${next}`
  if (limits.tokens !== undefined && tokens >= limits.tokens)
    return `${name} has used ${tokens} of ${limits.tokens} tokens ${period}.${next}`
  return undefined
}
