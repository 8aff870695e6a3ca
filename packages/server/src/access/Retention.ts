/** What is past its days goes, once a day: journal, audit, kept answers. The day is a timer, so that a restart forgets nothing. */
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../store/Journal.ts"
import { readerLayer, Readers } from "../store/Readers.ts"
import { Timers } from "../store/Timers.ts"
import { Audit } from "./Audit.ts"

const purpose = "retention"
/** A client that retries after this long has forgotten why. */
const answersKept = { hours: 24 }

const setNext = Effect.gen(function* () {
  const timers = yield* Timers
  yield* timers.set({ purpose, key: purpose, dueAt: DateTime.add(yield* DateTime.now, { days: 1 }), payload: null })
})

const clean = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // What nobody needs any more is removed only where every reader has passed.
  yield* (yield* Readers).writeDown
  const events = yield* (yield* Journal).retain
  const audited = yield* (yield* Audit).retain
  const before = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, answersKept))
  yield* sql`DELETE FROM answers WHERE created_at < ${before}`
  yield* Effect.logInfo(`Retention removed ${events} events and ${audited} audit rows`)
})

export const layerRetention = Layer.mergeAll(
  readerLayer({
    name: purpose,
    atomic: false,
    kinds: ["timer.fired"],
    handle: Effect.fnUntraced(function* ([event]) {
      if (event?.kind !== "timer.fired" || event.body.purpose !== purpose) return
      yield* clean
      yield* (yield* Journal).transact(setNext)
    }),
  }),
  Layer.effectDiscard(Effect.flatMap(Journal, (journal) => journal.transact(firstOnly(setNext)))),
)

/** A house that restarts every hour still cleans once a day: the timer that is set stays as it is. */
function firstOnly<R>(set: Effect.Effect<void, never, R>) {
  return Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* Effect.orDie(sql`SELECT id FROM timers WHERE key = ${purpose}`)
    if (rows.length === 0) yield* set
  })
}
