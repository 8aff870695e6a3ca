/**
 * Ends open streams and waits at once when their right ends: each is bound to the token it was opened with, and ends
 * when the token is revoked or expires, or when its principal is retired. One watch for all doors, and for the rooms in
 * which a request waits.
 */
import { type Caller, Unauthenticated } from "@stoa/contract"
import { Clock, Context, DateTime, Deferred, Effect, Layer } from "effect"
import { chain } from "../../store/fibers/Resolved.ts"
import { LinkedSet } from "../../store/LinkedSet.ts"
import { followRights, rightsEpoch } from "../rights/Rights.ts"
import { Tokens } from "./Tokens.ts"

type Who = Caller["Service"]

interface Open {
  readonly who: Who
  readonly end: () => void
}

export class Endings extends Context.Service<
  Endings,
  {
    /** Calls `end` once, when the caller's token has ended; call the returned function when the stream is closed. */
    readonly watch: (who: Who, end: () => void) => () => void
    /** Returns when the caller's token has ended. */
    readonly ended: (who: Who) => Effect.Effect<void>
    /** Fails if the caller's token has ended: nothing that took a while is given out without this. */
    readonly unlessEnded: (who: Who) => Effect.Effect<void, Unauthenticated>
    /** What a request waits for; it is refused at once when the caller's token ends, and gets nothing afterwards. */
    readonly during: <A, E, R>(who: Who, waiting: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unauthenticated, R>
  }
>()("server/access/identity/Endings") {
  static readonly layer = Layer.effect(
    Endings,
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const clock = yield* Clock.Clock
      const epochNow = yield* rightsEpoch
      const open = new LinkedSet<Open>()
      const runFork = Effect.runForkWith(yield* Effect.context<never>())

      yield* followRights({
        name: "closing streams of ended tokens",
        wanted: () => open.size > 0,
        hear: Effect.gen(function* () {
          const asked = new Map<string, boolean>()
          const all = [...open]
          for (const { end, who } of all) {
            const key = who.token ?? who.principal.id
            const still = asked.get(key) ?? (yield* tokens.stillWorks(who))
            asked.set(key, still)
            if (!still) end()
          }
        }),
      })

      const watch: Endings["Service"]["watch"] = (who, end) => {
        let over = false
        const finish = () => {
          if (over) return
          leave()
          end()
        }
        const left = open.enter({ who, end: finish })
        const { expiresAt } = who
        const timer =
          expiresAt === null
            ? undefined
            : runFork(
                Effect.gen(function* () {
                  yield* Effect.sleep(
                    Math.max(0, expiresAt.epochMilliseconds - DateTime.toEpochMillis(yield* DateTime.now)),
                  )
                  finish()
                }),
              )
        const leave = () => {
          if (over) return
          over = true
          left()
          timer?.interruptUnsafe()
        }
        return leave
      }

      const refused = Effect.fail(new Unauthenticated({ reason: "refused" }))
      const unlessEnded: Endings["Service"]["unlessEnded"] = (who) =>
        Effect.suspend(() => {
          // wall clock: tokens end at a moment.
          if (who.expiresAt !== null && who.expiresAt.epochMilliseconds <= clock.currentTimeMillisUnsafe())
            return refused
          return chain(epochNow(), (epoch) =>
            epoch === who.epoch
              ? Effect.void
              : Effect.flatMap(tokens.stillWorks(who), (still) => (still ? Effect.void : refused)),
          )
        })

      const ended: Endings["Service"]["ended"] = (who) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const over = Deferred.makeUnsafe<void>()
            return { over, leave: watch(who, () => Deferred.doneUnsafe(over, Effect.void)) }
          }),
          // It may have ended before it was watched.
          ({ over }) =>
            Effect.matchEffect(unlessEnded(who), {
              onFailure: () => Effect.void,
              onSuccess: () => Deferred.await(over),
            }),
          ({ leave }) => Effect.sync(leave),
        )

      const during: Endings["Service"]["during"] = (who, waiting) =>
        Effect.tap(Effect.raceFirst(waiting, Effect.andThen(ended(who), refused)), () => unlessEnded(who))

      return Endings.of({ watch, ended, unlessEnded, during })
    }),
  )
}
