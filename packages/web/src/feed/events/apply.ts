/** Writes a batch of events into the cache once. */
import type { FeedEvent } from "@stoa/sdk"
import { cache, keys } from "../cache.ts"
import { type Change, changesOf } from "./feed.logic.ts"
import { house, isRefusal } from "../house.ts"
import { makeRefresher } from "./refresher.ts"
import { takeEvent } from "./signals.ts"
import type { Decision, Space, Start } from "../types.ts"

const refresh = makeRefresher(cache)

/** Whether the user's visibility has changed, so that everything must be reloaded. */
export const apply = (events: ReadonlyArray<FeedEvent>, me: string): boolean => {
  const written = new Map<string, { readonly key: ReadonlyArray<string>; value: unknown }>()
  const stale = new Map<string, ReadonlyArray<string>>()
  const decisions = new Set<string>()
  const spaces = new Set<string>()
  let restart = false
  const write = ({ key, with: change }: Extract<Change, { readonly do: "write" }>) => {
    const name = key.join(" ")
    const entry = written.get(name) ?? { key, value: cache.getQueryData(key) }
    entry.value = change(entry.value as never)
    written.set(name, entry)
  }
  for (const event of events) {
    takeEvent(event)
    for (const change of changesOf(event, me)) {
      if (change.do === "write") write(change)
      else if (change.do === "stale") stale.set(change.key.join(" "), change.key)
      else if (change.do === "decision") decisions.add(change.id)
      else if (change.do === "space") spaces.add(change.id)
      else restart = true
    }
  }
  for (const { key, value } of written.values()) if (value !== undefined) cache.setQueryData(key, value)
  for (const key of stale.values()) void refresh(key)
  for (const id of decisions) void readDecision(id)
  for (const id of spaces) void readSpace(id)
  return restart
}

const inStart = (change: (old: Start) => Start) =>
  cache.setQueryData<Start>(keys.start, (old) => (old === undefined ? old : change(old)))

const placed = <A extends { readonly id: string }>(list: ReadonlyArray<A>, one: A): ReadonlyArray<A> =>
  list.some(({ id }) => id === one.id) ? list.map((old) => (old.id === one.id ? one : old)) : [...list, one]

/** The present state of a decision, for every card that shows it. */
export const noteDecision = (decision: Decision): void => {
  cache.setQueryData(keys.decision(decision.id), decision)
  inStart((old) => ({
    ...old,
    decisions:
      decision.state === "open"
        ? placed(old.decisions, decision)
        : old.decisions.filter(({ id }) => id !== decision.id),
  }))
}

export const readDecision = async (id: string): Promise<void> => {
  try {
    noteDecision(await house.decisions.get(id))
  } catch (error) {
    // Not visible, or no longer: then it is not among the waiting ones either.
    if (isRefusal(error, 404)) inStart((old) => ({ ...old, decisions: old.decisions.filter((one) => one.id !== id) }))
    else void cache.invalidateQueries({ queryKey: keys.start })
  }
}

export const noteSpace = (space: Space): void => {
  inStart((old) => ({ ...old, spaces: placed(old.spaces, space) }))
}

const readSpace = async (id: string): Promise<void> => {
  try {
    noteSpace(await house.spaces.get(id))
  } catch (error) {
    if (isRefusal(error, 404)) inStart((old) => ({ ...old, spaces: old.spaces.filter((one) => one.id !== id) }))
  }
}
