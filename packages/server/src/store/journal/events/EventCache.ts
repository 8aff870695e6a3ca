/**
 * A cache for values that are needed at every step and seldom change, valid until this process learns of a change.
 * Other processes announce their changes by notice, so a value may be some milliseconds old; after a lost notice, as
 * old as `maxDelay` of `Notices`. Rights are never decided on it: they have their epoch.
 */
import type { EventKind } from "@stoa/contract"
import { Clock, Effect } from "effect"
import { monotonicOf } from "../../Moment.ts"
import { Journal } from "../Journal.ts"

const longest = 2000
const most = 10_000

export const makeEventCache = Effect.fnUntraced(function* <A, E>(
  kinds: ReadonlyArray<EventKind>,
  read: (key: string) => Effect.Effect<A, E>,
) {
  const clock = yield* Clock.Clock
  const changes = (yield* Journal).bellOf(kinds)
  const kept = new Map<string, { readonly value: Effect.Effect<A>; readonly at: number }>()
  let heard = changes.rung

  const readAnew = Effect.fnUntraced(function* (key: string) {
    const [at, before] = [monotonicOf(clock), changes.rung]
    const value = yield* read(key)
    // If something changed during the read, the value is not cached.
    if (changes.rung === before && heard === before) {
      if (kept.size >= most) kept.clear()
      kept.set(key, { value: Effect.succeed(value), at })
    }
    return value
  })

  const get = (key: string): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      if (heard !== changes.rung) {
        heard = changes.rung
        kept.clear()
      }
      const known = kept.get(key)
      return known !== undefined && monotonicOf(clock) - known.at < longest ? known.value : readAnew(key)
    })
  /** For changes without an event. */
  const forget = Effect.sync(() => changes.ring())
  return { get, forget }
})
