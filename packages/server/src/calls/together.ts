/**
 * Calls that need no transaction of their own are written together: those that end while one batch is on its way to the
 * disk share the next. Nobody is answered before the batch with its call has been committed and synced.
 */
// edge: one timer ends the wait for others; it holds nothing that matters after a crash.
import { Deferred, Effect, Exit } from "effect"
import { lean } from "../store/Lean.ts"
import type { makeRecord } from "./record.ts"

type Record = Effect.Success<typeof makeRecord>
export type Lone = NonNullable<ReturnType<Record["lone"]>>

interface Waiting {
  readonly call: Lone
  readonly done: Deferred.Deferred<void>
}

/** So many rows in one INSERT: a call has some twenty-five columns, and SQLite takes 32,766 parameters. */
const most = 200
/** How long a batch may wait for others at most. */
const longestMillis = 1

export const makeTogether = Effect.fnUntraced(function* (record: Record) {
  const run = Effect.runForkWith(yield* lean)
  let waiting: Array<Waiting> = []
  let writing = false

  const write = (calls: ReadonlyArray<Waiting>) => Effect.exit(record.many(calls.map(({ call }) => call)))

  const answer = (calls: ReadonlyArray<Waiting>, exit: Exit.Exit<void>) =>
    Effect.sync(() => {
      for (const { done } of calls) Deferred.doneUnsafe(done, exit)
    })

  // How many were on their way when the last batch was written.
  let lately = 0

  let wake: (() => void) | undefined
  const enough = () => waiting.length * 2 >= lately

  /** Those who were just answered come again: worth a moment, for a batch costs the same for one as for many. */
  const gather = Effect.suspend(() =>
    enough()
      ? Effect.yieldNow
      : Effect.callback<void>((resume) => {
          const go = () => {
            clearTimeout(timer)
            wake = undefined
            resume(Effect.void)
          }
          const timer = setTimeout(go, longestMillis)
          wake = go
        }),
  )

  const writeAll = Effect.gen(function* () {
    while (waiting.length > 0) {
      yield* gather
      const calls = waiting.slice(0, most)
      waiting = waiting.slice(most)
      const exit = yield* write(calls)
      lately = calls.length + waiting.length
      if (Exit.isSuccess(exit) || calls.length === 1) yield* answer(calls, exit)
      // One that cannot be written must not take the others with it.
      else for (const one of calls) yield* answer([one], yield* write([one]))
    }
    writing = false
  })

  return (call: Lone): Effect.Effect<void> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void>()
      waiting.push({ call, done })
      if (wake !== undefined && enough()) wake()
      if (!writing) {
        writing = true
        run(writeAll)
      }
      return Deferred.await(done)
    })
})
