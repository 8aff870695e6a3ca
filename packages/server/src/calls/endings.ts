/**
 * Ends of calls that run in this process and need no transaction of their own are written together: those that come while
 * one batch is on its way to the disk share the next. Nobody is answered before the batch with its end is kept.
 */
import { Deferred, Effect, Exit } from "effect"
import { lean } from "../store/Lean.ts"
import type { makeRecord } from "./record.ts"

type Record = Effect.Success<typeof makeRecord>
export type End = NonNullable<ReturnType<Record["loneEnd"]>>

interface Waiting {
  readonly end: End
  readonly done: Deferred.Deferred<boolean>
}

/** So many in one UPDATE. */
const most = 200

/** `owner`: this process, as the rows name it. */
export const makeEndings = Effect.fnUntraced(function* (record: Record, owner: string) {
  const run = Effect.runForkWith(yield* lean)
  let waiting: Array<Waiting> = []
  let writing = false

  const write = Effect.fnUntraced(function* (ends: ReadonlyArray<Waiting>) {
    const written = record.endMany(
      ends.map(({ end }) => end),
      owner,
    )
    const exit = yield* Effect.exit(written)
    // One that cannot be written must not take the others with it.
    if (Exit.isFailure(exit) && ends.length > 1) return false
    for (const { done, end } of ends)
      Deferred.doneUnsafe(
        done,
        Exit.map(exit, (ids) => ids.has(end.row.id)),
      )
    return true
  })

  const writeAll = Effect.gen(function* () {
    // Those who end in this turn of the event loop come along.
    yield* Effect.yieldNow
    while (waiting.length > 0) {
      const ends = waiting.slice(0, most)
      waiting = waiting.slice(most)
      if (!(yield* write(ends))) for (const one of ends) yield* write([one])
    }
    writing = false
  })

  /** False: somebody else has settled it meanwhile, and nothing was written of this end. */
  return (end: End): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<boolean>()
      waiting.push({ end, done })
      if (!writing) {
        writing = true
        run(writeAll)
      }
      return Deferred.await(done)
    })
})
