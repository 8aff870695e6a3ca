/**
 * News of calls, for whoever of this process waits for them: the journal says that there are some, and the rows say which.
 * One reader for all; while nobody waits, nothing is read.
 */
import type { Event } from "@stoa/contract"
import { Deferred, Effect } from "effect"
import { Bell } from "../../../store/journal/Bell.ts"
import { Journal } from "../../../store/journal/Journal.ts"

const told = ["call.waiting", "call.settled", "decision.answered", "decision.expired", "decision.canceled"] as const
const page = 200

/** All of these say which call they are about. */
const callIn = ({ body }: Event): string | undefined => ("call" in body ? (body.call ?? undefined) : undefined)

export const makeCallNews = Effect.gen(function* () {
  const journal = yield* Journal
  const bell = journal.bellOf(told)
  const begun = new Bell()
  const hearers = new Map<string, Set<Effect.Effect<void>>>()
  let cursor = 0

  yield* Effect.gen(function* () {
    const [heard, since] = [bell.rung, begun.rung]
    if (hearers.size === 0) return yield* begun.waitPast(since)
    const events = yield* journal.read({ after: cursor, limit: page, kinds: told })
    if (events.length === 0) return yield* bell.waitPast(heard)
    const calls = new Set(events.flatMap((event) => callIn(event) ?? []))
    for (const call of calls) for (const hear of hearers.get(call) ?? []) yield* hear
    cursor = Math.max(cursor, events.at(-1)!.cursor)
  }).pipe(
    Effect.tapCause((cause) => Effect.logError("News of calls could not be told, and are again", cause)),
    Effect.catchCause(() => Effect.sleep("1 second")),
    Effect.forever,
    Effect.forkScoped,
  )

  /** Hears of every news from now on. Whoever begins looks at the rows after this: then nothing is missed. */
  const listen = Effect.fnUntraced(function* (
    calls: ReadonlyArray<string>,
    hear: (call: string) => Effect.Effect<void>,
  ) {
    // While nobody waited nothing was read: whoever comes first reads on from here.
    const end = yield* journal.end
    if (hearers.size === 0) cursor = Math.max(cursor, end)
    const mine = calls.map((call) => [call, hear(call)] as const)
    for (const [call, one] of mine) hearers.set(call, (hearers.get(call) ?? new Set()).add(one))
    begun.ring()
    return () => {
      for (const [call, one] of mine) {
        const all = hearers.get(call)
        all?.delete(one)
        if (all?.size === 0) hearers.delete(call)
      }
    }
  })

  /** Returns once it is so, and looks again with each news of the call. */
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
