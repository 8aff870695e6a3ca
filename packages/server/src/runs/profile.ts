/**
 * What a run may do, depending on its agent's toolset: the values of the seeds, and of the house's own toolset. Pure.
 */
import type { Agent, AgentLimits, ToolsetName } from "@stoa/contract"

export interface Profile {
  readonly limits: AgentLimits
  /** How many messages of its space it sees. */
  readonly history: number
  /** How many of its runs may wait at once. */
  readonly maxWaiting: number
  /** How long it waits for replies; null: as long as somebody may answer. */
  readonly waitMs: number | null
  /** Messages that arrive before a run has begun join it (G-07). */
  readonly joins: boolean
  /** Mail to an agent that works or waits stays in its inbox until it looks, or is done (S3-18, S3-67). */
  readonly inbox: boolean
  /** The shortest time between two plans of one agent, in milliseconds. */
  readonly planEveryMs: number
  /** What its prompt says about its tools. */
  readonly guidance: ReadonlyArray<string>
}

const usual: Profile = {
  limits: { steps: 100, minutes: 30, depth: 10, width: 1, waits: 10 },
  history: 50,
  maxWaiting: 5,
  waitMs: 300_000,
  joins: true,
  inbox: false,
  planEveryMs: 1000,
  guidance: [],
}

/** Agents that wake each other stop at a run of this `depth` (S0-64). */
const profiles: Record<ToolsetName, Profile> = {
  office: {
    ...usual,
    limits: { steps: 5, cost: 0.1, depth: 3, width: 1 },
    history: 20,
    // One run per message (S0-57).
    joins: false,
    planEveryMs: 300_000,
    guidance: ["To say nothing, call do_nothing or simply end: that is a good answer, too."],
  },
  gateway: {
    ...usual,
    limits: { ...usual.limits, width: 5 },
    joins: false,
    guidance: ["send_message speaks in the space you stand in; enter_space takes you to another one."],
  },
  stoa: usual,
  engrams: usual,
  skills: usual,
  team: {
    ...usual,
    limits: { steps: 1000, minutes: 1440, depth: 50, width: 1, waits: 1000 },
    maxWaiting: 100,
    waitMs: null,
    inbox: true,
    guidance: [
      "You work in a team: a tree of agents. You can write to your parent, your children and your siblings, by name.",
      "Tool calls return immediately with a status.",
      "Replies to sync messages arrive as your next message: end your turn, and you are started again with the reply.",
      "Do not loop or poll waiting for replies.",
      "To answer somebody who waits for you, send them a message.",
    ],
  },
}

/** If an agent has several toolsets, the first in this order decides, the most talkative first. */
const order: ReadonlyArray<ToolsetName> = ["team", "office", "gateway", "engrams", "stoa", "skills"]

export const profileNameOf = ({ toolsets }: Pick<Agent, "toolsets">): ToolsetName =>
  order.find((one) => toolsets.includes(one)) ?? "stoa"

export const profileNamed = (name: string): Profile => profiles[name as ToolsetName] ?? profiles.stoa

/** The default budgets in US dollars (S4-112); unlike a profile's limits, an agent's own may be higher. */
const usualBudgets = { cost: 1, perDay: 25 }

/** Why an agent cannot begin a run now, as a sentence without its full stop. `models`: those of the run, if it has its own. */
export const cannotWork = (
  { models: own, name, retiredAt, thinker }: Agent,
  models: ReadonlyArray<string> = own,
): string | undefined =>
  retiredAt !== null
    ? `${name} is retired`
    : thinker.kind === "model" && models.length === 0
      ? `${name} has no model to think with; an admin can give it one`
      : undefined

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other)

/** Each limit can only tighten the ones before it. */
const tightened = (base: AgentLimits, more: AgentLimits): AgentLimits => {
  const keys = ["steps", "cost", "tokens", "minutes", "waits", "depth", "width"] as const
  const limits = keys.flatMap((key) => {
    const value = least(base[key], more[key])
    return value === undefined ? [] : [[key, value] as const]
  })
  const cost = least(base.perDay?.cost, more.perDay?.cost)
  const tokens = least(base.perDay?.tokens, more.perDay?.tokens)
  const perDay = { ...(cost === undefined ? {} : { cost }), ...(tokens === undefined ? {} : { tokens }) }
  return { ...Object.fromEntries(limits), ...(Object.keys(perDay).length === 0 ? {} : { perDay }) }
}

const namedOf = (limits: AgentLimits): ReadonlyArray<readonly [name: string, value: number]> =>
  Object.entries({
    ...limits,
    perDay: undefined,
    "perDay.cost": limits.perDay?.cost,
    "perDay.tokens": limits.perDay?.tokens,
  }).flatMap(([name, value]) => (typeof value === "number" ? [[name, value] as const] : []))

/** A sentence for each of an agent's limits that is looser than its toolset allows, and so has no effect. */
export const ineffectiveLimits = ({ limits, toolsets }: Pick<Agent, "limits" | "toolsets">): ReadonlyArray<string> => {
  const profile = profileNameOf({ toolsets })
  const most = new Map(namedOf(profileNamed(profile).limits))
  return namedOf(limits).flatMap(([name, value]) => {
    const bound = most.get(name)
    return bound === undefined || value <= bound
      ? []
      : [`${name} is ${value}, and its toolset ${profile} allows ${bound}: its runs have ${bound}.`]
  })
}

/** The limits of a run of this agent. */
export const limitsFor = (agent: Agent): AgentLimits => {
  const limits = tightened(profileNamed(profileNameOf(agent)).limits, agent.limits)
  const { cost = usualBudgets.cost, perDay = {} } = limits
  return { ...limits, cost, perDay: { ...perDay, cost: perDay.cost ?? usualBudgets.perDay } }
}
