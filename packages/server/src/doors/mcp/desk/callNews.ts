/**
 * Tells everybody in this process who waits for calls about news: the journal says that there is news, the rows say
 * what. One reader for all; while nobody waits, nothing is read.
 */
import type { Event } from "@stoa/contract"
import { Deferred, Effect } from "effect"
import { Journal } from "../../../store/journal/Journal.ts"

const told = ["call.waiting", "call.settled", "decision.answered", "decision.expired", "decision.canceled"] as const

/** All of these events say which call they are about. */
const callIn = ({ body }: Event): string | undefined => ("call" in body ? (body.call ?? undefined) : undefined)

export const makeCallNews = Effect.gen(function* () {
  const journal = yield* Journal
  const hearers = new Map<string, Set<Effect.Effect<void>>>()
  const following = yield* journal.follow({
    name: "watching calls for MCP clients",
    kinds: told,
    wanted: () => hearers.size > 0,
    hear: Effect.fnUntraced(function* (events) {
      const calls = new Set(events.flatMap((event) => callIn(event) ?? []))
      for (const call of calls) for (const hear of hearers.get(call) ?? []) yield* hear
    }),
  })

  /** Hears all news from now on. Read the rows after this, so that nothing is missed. */
  const listen = Effect.fnUntraced(function* (
    calls: ReadonlyArray<string>,
    hear: (call: string) => Effect.Effect<void>,
  ) {
    const mine = calls.map((call) => [call, hear(call)] as const)
    yield* following.begin(() => {
      for (const [call, one] of mine) hearers.set(call, (hearers.get(call) ?? new Set()).add(one))
    })
    return () => {
      for (const [call, one] of mine) {
        const all = hearers.get(call)
        all?.delete(one)
        if (all?.size === 0) hearers.delete(call)
      }
    }
  })

  /** Returns once `so` is true; checks again at each news of the call. */
  const until = (call: string, so: Effect.Effect<boolean>): Effect.Effect<void> => {
    let news = Deferred.makeUnsafe<void>()
    return Effect.acquireUseRelease(
      listen([call], () => Effect.sync(() => Deferred.doneUnsafe(news, Effect.void))),
      () =>
        Effect.gen(function* () {
          for (;;) {
            news = Deferred.makeUnsafe<void>()
            if (yield* so) return
            yield* Deferred.await(news)
          }
        }),
      (stop) => Effect.sync(stop),
    )
  }

  return { listen, until }
})
