/**
 * Live signals that are shown and not stored: somebody is typing, a call's input arrives, a model's words. Any room can
 * emit them. In this process they arrive at once; on Postgres a NOTIFY carries them to other processes, collected for a
 * moment and dropped rather than queued, because a late one is worthless.
 */
import { Delta } from "@stoa/contract"
import { Context, Duration, Effect, Layer, Option, Schema, type Scope } from "effect"
import { requestContext } from "../../fibers/RequestContext.ts"
import { SharedDatabase } from "../../leases/Holder.ts"
import { newId } from "../Correlation.ts"
import { Notices } from "./Notices.ts"

/** How long deltas for other processes are collected. */
const gathering = Duration.millis(50)
/** Postgres takes less than 8,000 bytes in one notice. */
const maxBytes = 7500
/** More than fit in one notice. */
const maxWaiting = 500

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Delta)))
/** Ignores deltas of other versions that this one does not know. */
const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({ from: Schema.String, deltas: Schema.Array(Delta) }))),
)

/** As many of the newest texts as fit into one notice, in their order. Pure. */
export const fitting = (texts: ReadonlyArray<string>, most: number): ReadonlyArray<string> => {
  let room = most
  const kept: Array<string> = []
  for (const text of texts.toReversed()) {
    const size = Buffer.byteLength(text) + 1
    if (size > room) continue
    room -= size
    kept.push(text)
  }
  return kept.toReversed()
}

export class Deltas extends Context.Service<
  Deltas,
  {
    readonly emit: (delta: Delta) => Effect.Effect<void>
    readonly listen: (hear: (delta: Delta) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("server/store/Deltas") {
  static readonly layer = Layer.effect(
    Deltas,
    Effect.gen(function* () {
      const notices = yield* Notices
      const isShared = yield* SharedDatabase
      const me = newId("own")
      const listeners = new Set<(delta: Delta) => void>()
      const tell = (delta: Delta) => listeners.forEach((hear) => hear(delta))

      // Nothing of the emitting fiber's context: a notice inside its transaction would wait for its COMMIT.
      const run = Effect.runForkWith(yield* requestContext)
      let waiting: Array<string> = []
      const flush = Effect.gen(function* () {
        yield* Effect.sleep(gathering)
        const some = fitting(waiting, maxBytes - me.length - 20)
        waiting = []
        if (some.length > 0) yield* notices.send("deltas", `{"from":"${me}","deltas":[${some.join(",")}]}`)
      }).pipe(Effect.catchCause((cause) => Effect.logDebug("Deltas did not reach other processes", cause)))
      const forward = (delta: Delta) => {
        waiting.push(encode(delta))
        if (waiting.length === 1) run(flush)
        else if (waiting.length > maxWaiting) waiting.shift()
      }

      const hear = (payload: string) => {
        const notice = payload === "" ? Option.none() : decode(payload)
        if (Option.isSome(notice) && notice.value.from !== me) notice.value.deltas.forEach(tell)
      }
      if (isShared) yield* notices.listen("deltas", hear)

      return Deltas.of({
        emit: (delta) =>
          Effect.sync(() => {
            tell(delta)
            if (isShared) forward(delta)
          }),
        listen: (one) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => void listeners.add(one)),
              () => Effect.sync(() => void listeners.delete(one)),
            ),
          ),
      })
    }),
  )
}
