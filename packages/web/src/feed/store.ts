/**
 * State that does not come from the house, and so is not in the cache: what the user is typing, whether the feed is
 * alive.
 */
import { useSyncExternalStore } from "react"

export interface Store<A> {
  readonly get: () => A
  readonly set: (change: (old: A) => A) => void
  readonly subscribe: (listener: () => void) => () => void
}

export const makeStore = <A>(initial: A): Store<A> => {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (change) => {
      const next = change(value)
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const useStore = <A>(store: Store<A>): A => useSyncExternalStore(store.subscribe, store.get)
