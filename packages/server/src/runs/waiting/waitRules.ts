/**
 * The states of a wait, and of the principals it waits for, as total tables; and which message answers which wait
 * . Pure.
 */
import type { PrincipalKind } from "@stoa/contract"

export type WaitState = "open" | "resolved" | "timeout" | "partial_timeout" | "silent" | "released" | "canceled"
type PartyState = "awaited" | "replied" | "gone" | "silent"

export interface Party {
  readonly principal: string
  readonly state: PartyState
}

/** `needed`: how many answers are enough. Without parties, the first answer of anybody else is. */
export interface WaitCondition {
  readonly needed: number
  readonly parties: ReadonlyArray<Party>
  readonly replies: number
}

/** The state of a wait after something came; undefined while it stays open. */
export const closedStateOf = ({ needed, parties, replies }: WaitCondition): WaitState | undefined => {
  if (replies >= needed) return "resolved"
  if (parties.length === 0) return undefined
  // Whoever was asked may still answer, even if the needed number cannot be reached any more.
  return parties.some(({ state }) => state === "awaited") ? undefined : "silent"
}

/** How the waiting agent is told: seed 001's three words (S1-100). */
export const waitResult = (state: WaitState, replies: number): "resolved" | "timeout" | "partial_timeout" =>
  state === "resolved" ? "resolved" : replies > 0 ? "partial_timeout" : "timeout"

export interface OpenWait {
  readonly id: string
  /** Who waits. */
  readonly agent: string
  /** The message to be answered. */
  readonly message: string
  readonly parties: ReadonlyArray<Party>
}

export interface PostedMessage {
  readonly id: string
  readonly author: string
  readonly authorKind: PrincipalKind
  readonly replyTo: string | null
  readonly mentions: ReadonlyArray<string>
}

const awaits = ({ parties }: OpenWait, author: string): boolean =>
  parties.length === 0 || parties.some(({ principal, state }) => principal === author && state === "awaited")
/** Somebody of whom no answer was expected any more may still reply. */
const takes = ({ parties }: OpenWait, author: string): boolean =>
  parties.length === 0 || parties.some(({ principal, state }) => principal === author && state !== "replied")

/**
 * The wait of one agent that a message answers: the one it replies to; otherwise the oldest that waits for its author.
 * An agent's post that mentions the waiting agent is a new matter, and wakes it; a person's is an answer all the same.
 */
export const findAnsweredWait = (
  waits: ReadonlyArray<OpenWait>,
  heard: PostedMessage,
  /** Only a reply answers. */
  strict = false,
): OpenWait | undefined => {
  const mine = waits.filter((one) => one.agent !== heard.author && one.message !== heard.id)
  const replied = mine.find((one) => one.message === heard.replyTo)
  if (replied !== undefined) return takes(replied, heard.author) ? replied : undefined
  if (strict || (heard.authorKind !== "person" && heard.replyTo !== null)) return undefined
  return mine.find(
    (one) => awaits(one, heard.author) && (heard.authorKind === "person" || !heard.mentions.includes(one.agent)),
  )
}

/**
 * The waits of an agent that wait for the author of a message which begins a new matter with it: they stay, because the
 * author has spoken and may still answer.
 */
export const findRaisedWaits = (waits: ReadonlyArray<OpenWait>, heard: PostedMessage): ReadonlyArray<OpenWait> =>
  waits.filter((one) => heard.mentions.includes(one.agent) && one.parties.length > 0 && awaits(one, heard.author))

/** The agents that wait for each other in a ring, by who waits for whom. */
export const findWaitCycles = (edges: ReadonlyArray<readonly [from: string, to: string]>): ReadonlySet<string> => {
  const next = Map.groupBy(edges, ([from]) => from)
  const found = new Set<string>()
  for (const start of next.keys()) {
    const seen = new Set<string>()
    const look = [start]
    while (look.length > 0)
      for (const [, to] of next.get(look.pop()!) ?? []) {
        if (to === start) found.add(start)
        if (!seen.has(to)) {
          seen.add(to)
          look.push(to)
        }
      }
  }
  return found
}

/** The path from one of the awaited principals back to the one that would wait; empty if there is none. */
export const findWaitPath = <Id extends string>(
  edges: ReadonlyArray<readonly [from: Id, to: Id]>,
  waiting: Id,
  awaited: ReadonlyArray<Id>,
): ReadonlyArray<Id> => {
  const next = Map.groupBy(edges, ([from]) => from)
  const seen = new Set<Id>()
  const way: Array<Id> = []
  const reaches = (at: Id): boolean => {
    if (at === waiting) return true
    if (seen.has(at)) return false
    seen.add(at)
    way.push(at)
    if ((next.get(at) ?? []).some(([, to]) => reaches(to))) return true
    way.pop()
    return false
  }
  return awaited.some(reaches) ? way : []
}
