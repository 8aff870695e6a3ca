/**
 * Ends open streams at once when their right ends: every stream is bound to the token it was opened with, and is closed
 * when the token is revoked or expires, or when its principal is retired. One watch for all doors.
 */
import type { Caller } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { Tokens } from "../access/identity/Tokens.ts"
import { followRights } from "../access/rights/Rights.ts"
import { LinkedSet } from "./node/LinkedSet.ts"

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
  }
>()("server/doors/Endings") {
  static readonly layer = Layer.effect(
    Endings,
    Effect.gen(function* () {
      const tokens = yield* Tokens
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
            const still = asked.get(key) ?? (yield* tokens.stillStands(who))
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

      const ended: Endings["Service"]["ended"] = (who) =>
        Effect.callback<void>((resume) => Effect.sync(watch(who, () => resume(Effect.void))))

      return Endings.of({ watch, ended })
    }),
  )
}
