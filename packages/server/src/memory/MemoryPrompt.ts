/** What an agent remembers, as sections of its prompt: read once when a run begins, so that nothing changes under way. */
import type { MemoryRecord, PrincipalId, PromptSection } from "@stoa/contract"
import { Effect } from "effect"
import { goalIn } from "./Goals.ts"
import { Memories } from "./Memories.ts"
import { type Plan, Plans } from "./Plans.ts"

/** So many of each are told; the rest can be asked for. */
const most = 100

interface Remembered {
  readonly agent: PrincipalId
  /** Seed 000's blocks: the agent's own, and those that others share with it. */
  readonly blocks: ReadonlyArray<MemoryRecord>
  readonly goals: ReadonlyArray<MemoryRecord>
  readonly memories: ReadonlyArray<MemoryRecord>
  readonly plans: ReadonlyArray<Plan>
}

const byKey = (one: MemoryRecord, other: MemoryRecord): number =>
  one.key === other.key ? (one.id < other.id ? -1 : 1) : one.key < other.key ? -1 : 1

const section = (name: string, text: string): PromptSection => ({ name, text, size: text.length })

const listed = (name: string, lines: ReadonlyArray<string>): ReadonlyArray<PromptSection> =>
  lines.length === 0 ? [] : [section(name, lines.map((line) => `- ${line}`).join("\n"))]

const due = ({ cron, nextRunAt, timezone = "UTC" }: Plan): string =>
  cron === undefined ? `due ${nextRunAt}` : `due ${nextRunAt}, by ${cron} (${timezone})`

/** Pure: one's own blocks before those of others, each under its label (S0-36); then goals, memories and plans. */
const memorySections = ({ agent, blocks, goals, memories, plans }: Remembered): ReadonlyArray<PromptSection> => {
  const own = blocks.filter(({ owner }) => owner === agent).toSorted(byKey)
  const shared = blocks.filter(({ owner }) => owner !== agent).toSorted(byKey)
  return [
    ...[...own, ...shared].map(({ content, key }) => section(key, content)),
    ...listed(
      "GOALS",
      goals
        .toSorted(byKey)
        .map(goalIn)
        .map(({ description, id, status }) => `[${id}] ${description} (${status})`),
    ),
    ...listed(
      "MEMORIES",
      memories.toSorted(byKey).map(({ content, key }) => `${key}: ${content}`),
    ),
    ...listed(
      "PLANS",
      plans.map((plan) => `${plan.name}: ${plan.instruction} (${due(plan)})`),
    ),
  ]
}

/** The memory sections of an agent's prompt, as its memory stands now. */
export const makeMemoryPrompt = Effect.gen(function* () {
  const memories = yield* Memories
  const plans = yield* Plans
  return Effect.fn("MemoryPrompt.sections")(function* (agent: PrincipalId) {
    const by = { id: agent }
    // What others share is asked for apart: nobody fills an agent's prompt in the place of its own.
    const kept = (namespace: "office" | "gateway", kind: string, owner: { readonly owner?: PrincipalId }) =>
      Effect.orDie(Effect.map(memories.list(by, { namespace, kind, limit: most, ...owner }), ({ items }) => items))
    const own = { owner: agent }
    const lent = (yield* kept("office", "block", {})).filter((one) => one.owner !== agent)
    return memorySections({
      agent,
      blocks: [...(yield* kept("office", "block", own)), ...lent],
      goals: yield* kept("gateway", "goal", own),
      memories: yield* kept("gateway", "memory", own),
      plans: (yield* plans.list(by, "active")).slice(0, most),
    })
  })
})
