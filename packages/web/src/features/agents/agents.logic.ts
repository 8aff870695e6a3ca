/** An agent as a line of the list: what it does, and what it has spent of its budget. */
import type { Principal, Run } from "../../feed/types.ts"

export type AgentState = "runs" | "waits" | "idle" | "paused" | "program"

export interface AgentActivity {
  readonly state: AgentState
  readonly run: Run | undefined
}

/** What it does now: a working run comes before a waiting one. */
export const activityOf = (
  agent: { readonly id: string },
  live: ReadonlyArray<Run>,
  paused: boolean,
): AgentActivity => {
  const own = live.filter((run) => run.agent === agent.id)
  const works = own.find(({ state }) => state === "running" || state === "queued")
  const run = works ?? own[0]
  if (paused) return { state: "paused", run }
  return { state: works !== undefined ? "runs" : run !== undefined ? "waits" : "idle", run }
}

export const looks: Readonly<Record<AgentState, { readonly tone: string; readonly icon: string }>> = {
  runs: { tone: "good", icon: "play" },
  waits: { tone: "warn", icon: "hourglass" },
  idle: { tone: "", icon: "moon" },
  paused: { tone: "bad", icon: "circle-pause" },
  program: { tone: "", icon: "plug" },
}

/** How much of a budget is spent, 0 to 1, and whether that needs attention. */
export const shareOf = (
  spent: number,
  most: number | undefined,
): { readonly share: number; readonly near: boolean } => {
  const share = most === undefined ? 0 : most === 0 ? 1 : Math.min(1, spent / most)
  return { share, near: share >= 0.8 }
}

export const isPaused = (name: string, subjects: ReadonlyArray<string>): boolean =>
  subjects.includes(`agents/${name}`) || subjects.includes("everything")

export const filterAgents = (agents: ReadonlyArray<Principal>, text: string): ReadonlyArray<Principal> => {
  const wanted = text.trim().toLowerCase()
  return agents.filter(({ name, retiredAt }) => retiredAt === null && name.toLowerCase().includes(wanted))
}

/** The first line of the persona. */
export const personaSummary = (persona: string | null): string => (persona ?? "").split("\n")[0]!.slice(0, 160)

const tints = ["speech", "memory", "wait", "tool", "model"] as const

/** Parts of a prompt, with their share of its tokens and a stable colour. */
export const partsOf = <A extends { readonly tokens: number }>(sections: ReadonlyArray<A>) => {
  const whole = Math.max(
    1,
    sections.reduce((sum, { tokens }) => sum + tokens, 0),
  )
  return sections.map((section, at) => ({ section, share: section.tokens / whole, tint: tints[at % tints.length]! }))
}

/** The limits of a form, without empty fields. */
export const limitsFrom = (dollars: string, steps: string) => ({
  ...(dollars === "" ? {} : { perDay: { cost: Number(dollars) } }),
  ...(steps === "" ? {} : { steps: Number(steps) }),
})

interface Limits {
  readonly steps?: number
  readonly cost?: number
  readonly minutes?: number
  readonly depth?: number
  readonly width?: number
  readonly perDay?: { readonly cost?: number; readonly tokens?: number }
}

const textOf = (value: number | undefined): string => (value === undefined ? "" : String(value))

/** Limits as a form has them: empty if not set. */
export const limitsDraft = ({ cost, depth, minutes, perDay, steps, width }: Limits) => ({
  dollars: textOf(perDay?.cost),
  runDollars: textOf(cost),
  steps: textOf(steps),
  minutes: textOf(minutes),
  depth: textOf(depth),
  width: textOf(width),
})

/** The form's values, and the previous values of limits it does not show. */
export const limitsOfDraft = <L extends Limits>(before: L, draft: ReturnType<typeof limitsDraft>) => {
  const { cost: _c, depth: _d, minutes: _m, perDay, steps: _s, width: _w, ...rest } = before
  const named = {
    steps: draft.steps,
    cost: draft.runDollars,
    minutes: draft.minutes,
    depth: draft.depth,
    width: draft.width,
  }
  const given = Object.entries(named).flatMap(([key, text]) => (text === "" ? [] : [[key, Number(text)] as const]))
  const { cost: _, ...day } = perDay ?? {}
  const whole = draft.dollars === "" ? day : { ...day, cost: Number(draft.dollars) }
  return { ...rest, ...Object.fromEntries(given), ...(Object.keys(whole).length === 0 ? {} : { perDay: whole }) }
}

interface InTree {
  readonly parent: string | null
  readonly children: ReadonlyArray<string>
}

/** Agents that have a parent or children, each tree from the top down. */
export const inTrees = <A extends InTree & { readonly id: string }>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const known = new Map(all.map((one) => [one.id, one]))
  const below = (one: A): ReadonlyArray<A> => [
    one,
    ...one.children.flatMap((id) => (known.has(id) ? below(known.get(id)!) : [])),
  ]
  return all
    .filter(({ children, parent }) => children.length > 0 && (parent === null || !known.has(parent)))
    .flatMap(below)
}

export const pairName = (a: string, b: string): string =>
  [a, b]
    .map((name) => name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-"))
    .toSorted()
    .join("-")
    .slice(0, 63)
