/**
 * Rows that need no transaction of their own are written together: those that arrive while one batch is being written
 * share the next. No caller is answered before its batch is committed and synced.
 */
// edge: setImmediate tells who comes first in a turn of the event loop.
import { Deferred, Effect, Exit } from "effect"
import { requestContext } from "../fibers/RequestContext.ts"

interface Waiting<A, B> {
  readonly item: A
  readonly done: Deferred.Deferred<B>
}

/** The most rows in one statement: a run has about forty columns, and SQLite takes 32,766 parameters. */
const most = 200

/** `write` writes several items, all or none, and returns a function from item to result. */
export const makeBatch = Effect.fnUntraced(function* <A, B>(
  write: (items: ReadonlyArray<A>) => Effect.Effect<(item: A) => B>,
) {
  const run = Effect.runForkWith(yield* requestContext)
  let waiting: Array<Waiting<A, B>> = []
  let writing = false
  // How many items were written or waiting when the last batch ended.
  let before = 0

  const attempt = (some: ReadonlyArray<Waiting<A, B>>) => Effect.exit(write(some.map(({ item }) => item)))
  const tell = (some: ReadonlyArray<Waiting<A, B>>, exit: Exit.Exit<(item: A) => B>): void => {
    for (const { done, item } of some)
      Deferred.doneUnsafe(
        done,
        Exit.map(exit, (of) => of(item)),
      )
  }

  const batch: Effect.Effect<void> = Effect.gen(function* () {
    const some = waiting.slice(0, most)
    waiting = waiting.slice(most)
    const exit = yield* attempt(some)
    before = some.length + waiting.length
    writing = false
    // The next batch goes to the disk before these are answered, because answering takes a while, too.
    if (isEnough()) begin(batch)
    if (Exit.isSuccess(exit)) tell(some, exit)
    // One item that cannot be written must not fail the others; and an item that failed in the batch may succeed alone.
    else for (const one of some) tell([one], yield* attempt([one]))
    next()
  })
  /** Waits for items of this turn of the event loop; `batchLater` also for the next turn, if there are only few yet. */
  const batchSoon = Effect.andThen(Effect.yieldNow, batch)
  const batchLater = Effect.andThen(Effect.yieldNow, batchSoon)

  /**
   * Callers that were just answered are likely to come again, and are worth a short wait: a batch costs the same for
   * one as for many.
   */
  const isEnough = () => waiting.length > 0 && waiting.length * 4 >= before * 3
  const begin = (how: Effect.Effect<void>): void => {
    writing = true
    run(how)
  }
  const next = (): void => {
    if (writing || waiting.length === 0) return
    // A single caller is likely to stay alone and waits for nobody, unless others came in this turn of the event loop.
    if (before <= 1 && waiting.length === 1 && isFirst()) begin(batch)
    else begin(isEnough() ? batchSoon : batchLater)
  }
  let taken = false
  const isFirst = (): boolean => {
    if (taken) return false
    taken = true
    setImmediate(() => (taken = false))
    return true
  }

  return (item: A): Effect.Effect<B> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<B>()
      waiting.push({ item, done })
      next()
      return Deferred.await(done)
    })
})
