/**
 * Tells the other processes on the same database how far this one has filled each bucket, collected for a moment. A
 * lost notice makes a limit a little wider for that moment; nothing is stored.
 */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { SharedDatabase } from "../../store/leases/Holder.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Notices } from "../../store/journal/signals/Notices.ts"
import { requestContext } from "../../store/fibers/RequestContext.ts"

const gathering = Duration.millis(200)
/** Postgres takes less than 8,000 bytes in one notice. */
const maxBytes = 7500

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      from: Schema.String,
      taken: Schema.Array(Schema.Tuple([Schema.String, Schema.Finite.check(Schema.isGreaterThan(0))])),
    }),
  ),
)

/** The fullest first, so that what does not fit matters least. Pure. */
const noticeOf = (from: string, taken: ReadonlyMap<string, number>): string => {
  let room = maxBytes - from.length
  const kept: Array<string> = []
  for (const [key, millis] of [...taken].toSorted(([, one], [, other]) => other - one)) {
    const text = JSON.stringify([key, Math.max(1, Math.round(millis))])
    room -= Buffer.byteLength(text) + 1
    if (room < 0) break
    kept.push(text)
  }
  return `{"from":"${from}","taken":[${kept.join(",")}]}`
}

export class SharedLimits extends Context.Service<
  SharedLimits,
  {
    /** A bucket was filled by this many milliseconds. */
    readonly tell: (key: string, millis: number) => void
    /** Listens to what others have filled. */
    readonly hear: (listener: (key: string, millis: number) => void) => void
  }
>()("server/access/limits/SharedLimits") {
  static readonly layer = Layer.effect(
    SharedLimits,
    Effect.gen(function* () {
      const isShared = yield* SharedDatabase
      const notices = yield* Notices
      if (!isShared) return SharedLimits.of({ tell: () => {}, hear: () => {} })
      const me = newId<string>("own")
      const run = Effect.runForkWith(yield* requestContext)
      let taken = new Map<string, number>()
      const flush = Effect.gen(function* () {
        yield* Effect.sleep(gathering)
        const some = taken
        taken = new Map()
        yield* notices.send("limits", noticeOf(me, some))
      }).pipe(Effect.catchCause((cause) => Effect.logDebug("Limits did not reach other processes", cause)))
      const listeners = new Set<(key: string, millis: number) => void>()
      yield* notices.listen("limits", (payload) => {
        const heard = payload === "" ? Option.none() : decode(payload)
        if (Option.isNone(heard) || heard.value.from === me) return
        for (const [key, millis] of heard.value.taken) for (const listener of listeners) listener(key, millis)
      })
      return SharedLimits.of({
        tell: (key, millis) => {
          taken.set(key, (taken.get(key) ?? 0) + millis)
          if (taken.size === 1 && taken.get(key) === millis) run(flush)
        },
        hear: (listener) => void listeners.add(listener),
      })
    }),
  )
}
