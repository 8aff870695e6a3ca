/** Work for once a day. The day is a timer, so that a restart forgets nothing, and one process of a cluster does it. */
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "./Journal.ts"
import { readerLayer } from "./Readers.ts"
import { Timers } from "./Timers.ts"

/** The name is that of its timer and of its reader. What is cut off midway is begun again: it must bear that. */
export const dailyLayer = <E, R>({
  name,
  work,
}: {
  readonly name: string
  readonly work: Effect.Effect<void, E, R>
}) => {
  const setNext = Effect.gen(function* () {
    const dueAt = DateTime.add(yield* DateTime.now, { days: 1 })
    yield* (yield* Timers).set({ purpose: name, key: name, dueAt, payload: null })
  })
  /** A house that restarts every hour still does it once a day: the timer that is set stays as it is. */
  const setFirst = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* Effect.orDie(sql`SELECT id FROM timers WHERE key = ${name}`)
    if (rows.length === 0) yield* setNext
  })
  return Layer.mergeAll(
    readerLayer({
      name,
      atomic: false,
      kinds: ["timer.fired"],
      handle: Effect.fnUntraced(function* ([event]) {
        if (event?.kind !== "timer.fired" || event.body.purpose !== name) return
        yield* work
        yield* (yield* Journal).transact(setNext)
      }),
    }),
    Layer.effectDiscard(Effect.flatMap(Journal, (journal) => journal.transact(setFirst))),
  )
}
