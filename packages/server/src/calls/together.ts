/**
 * Calls that need no transaction of their own are written together: those that end while one batch is on its way to the
 * disk share the next. Nobody is answered before the batch with its call has been committed and synced.
 */
// edge: performance.now says how long to wait for others; it holds nothing that matters after a crash.
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

export const makeTogether = Effect.fnUntraced(function* (record: Record) {
  const run = Effect.runForkWith(yield* lean)
  let waiting: Array<Waiting> = []
  let writing = false

  const write = (calls: ReadonlyArray<Waiting>) => Effect.exit(record.many(calls.map(({ call }) => call)))

  const answer = (calls: ReadonlyArray<Waiting>, exit: Exit.Exit<void>) =>
    Effect.sync(() => {
      for (const { done } of calls) Deferred.doneUnsafe(done, exit)
    })

  // How many were on their way lately, and how long the last batch took.
  let lately = 0
  let took = 0

  /** Those who were just answered come again: worth waiting for, for a part of what a batch of their own would cost. */
  const gather = Effect.suspend(() => {
    const until = performance.now() + took / 4
    const more: Effect.Effect<void> = Effect.suspend(() =>
      waiting.length >= lately / 2 || performance.now() >= until ? Effect.void : Effect.andThen(Effect.yieldNow, more),
    )
    return Effect.andThen(Effect.yieldNow, more)
  })

  const writeAll = Effect.gen(function* () {
    while (waiting.length > 0) {
      yield* gather
      const calls = waiting.slice(0, most)
      waiting = waiting.slice(most)
      const began = performance.now()
      const exit = yield* write(calls)
      took = performance.now() - began
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
      if (!writing) {
        writing = true
        run(writeAll)
      }
      return Deferred.await(done)
    })
})
