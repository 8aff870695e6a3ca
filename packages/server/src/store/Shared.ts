/** One question to the database for all who ask at the same time, where many ask the same at every call. */
import { Deferred, Effect } from "effect"

/**
 * Whoever asks while one question is on its way shares the next one: no answer is older than its question. It is asked
 * outside of any transaction; whoever is in one asks for itself, or would wait for a connection while holding one.
 */
export const shared = <Key, A>(ask: (keys: ReadonlySet<Key>) => Effect.Effect<A>): ((key: Key) => Effect.Effect<A>) => {
  let next: { readonly keys: Set<Key>; readonly answer: Deferred.Deferred<A> } | undefined
  let asking = false
  const askAll: Effect.Effect<void> = Effect.suspend(() => {
    const those = next
    next = undefined
    if (those === undefined) {
      asking = false
      return Effect.void
    }
    return Effect.flatMap(Effect.exit(ask(those.keys)), (exit) => {
      Deferred.doneUnsafe(those.answer, exit)
      return askAll
    })
  })
  return (key) =>
    Effect.suspend(() => {
      const mine = (next ??= { keys: new Set(), answer: Deferred.makeUnsafe<A>() })
      mine.keys.add(key)
      if (!asking) {
        asking = true
        Effect.runFork(askAll)
      }
      return Deferred.await(mine.answer)
    })
}
