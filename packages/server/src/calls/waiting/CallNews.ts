/**
 * Tells everybody in this process who waits for calls about news: the journal says that there is news, whichever
 * process wrote it, and the rows say what. One follower for all; while nobody waits, nothing is read.
 */
import type { Event } from "@stoa/contract"
import { Context, Deferred, Effect, Layer } from "effect"
import { Journal } from "../../store/journal/Journal.ts"

const kinds = ["call.waiting", "call.settled", "decision.answered", "decision.expired", "decision.canceled"] as const

/** All of these events say which call they are about. */
const callIn = ({ body }: Event): string | undefined => ("call" in body ? (body.call ?? undefined) : undefined)

export class CallNews extends Context.Service<
  CallNews,
  {
    /** Hears all news of these calls from now on. Read the rows after this, so that nothing is missed. */
    readonly listen: (
      calls: ReadonlyArray<string>,
      hear: (call: string) => Effect.Effect<void>,
    ) => Effect.Effect<() => void>
    /** Returns what `look` finds, once it finds something; it looks again at each news of the call. */
    readonly until: <A>(call: string, look: Effect.Effect<A | undefined>) => Effect.Effect<A>
  }
>()("server/calls/waiting/CallNews") {
  static readonly layer = Layer.effect(
    CallNews,
    Effect.gen(function* () {
      const journal = yield* Journal
      const hearers = new Map<string, Set<Effect.Effect<void>>>()
      const following = yield* journal.follow({
        name: "watching calls for those who wait",
        kinds,
        wanted: () => hearers.size > 0,
        hear: Effect.fnUntraced(function* (events) {
          const calls = new Set(events.flatMap((event) => callIn(event) ?? []))
          for (const call of calls) for (const hear of hearers.get(call) ?? []) yield* hear
        }),
      })

      const listen: CallNews["Service"]["listen"] = Effect.fnUntraced(function* (calls, hear) {
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

      const until: CallNews["Service"]["until"] = (call, look) => {
        let news = Deferred.makeUnsafe<void>()
        return Effect.acquireUseRelease(
          listen([call], () => Effect.sync(() => Deferred.doneUnsafe(news, Effect.void))),
          () =>
            Effect.gen(function* () {
              for (;;) {
                news = Deferred.makeUnsafe<void>()
                const found = yield* look
                if (found !== undefined) return found
                yield* Deferred.await(news)
              }
            }),
          (stop) => Effect.sync(stop),
        )
      }

      return CallNews.of({ listen, until })
    }),
  )
}
