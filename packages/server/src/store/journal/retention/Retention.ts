/**
 * Removes expired rows: every hour, and at most one day's worth, so that a wrong clock does little damage before
 * somebody notices. A clock that is far ahead of the last activity is trusted only after an operator accepts it. The
 * hour is a timer, so that a restart forgets nothing, and one process of a cluster does the work.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { monotonicMillis } from "../../Moment.ts"
import { Journal } from "../Journal.ts"
import { readerLayer } from "../readers/Readers.ts"
import { Timers } from "../Timers.ts"

/**
 * A house that was off for longer also waits for its operator: only they know whether it was off or the clock is wrong.
 */
const far = Duration.days(7)
const every = Duration.hours(1)

export class Retention extends Context.Service<
  Retention,
  {
    /** The last time that the house trusted, and whether the clock is too far ahead of it to be trusted. */
    readonly clock: Effect.Effect<{ readonly seen: string | null; readonly now: string; readonly waits: boolean }>
    /** The operator says that the clock is right. */
    readonly accept: Effect.Effect<void>
    /** Whether the work of this name may run now. If the clock is plausible, the time is noted. */
    readonly begins: (name: string) => Effect.Effect<boolean>
  }
>()("server/store/Retention") {
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const clock = Effect.gen(function* () {
        const rows = yield* sql<{ seen: string }>`SELECT seen FROM retention`
        const seen = rows[0]?.seen ?? null
        const now = yield* DateTime.now
        const waits = seen !== null && DateTime.isGreaterThan(now, DateTime.addDuration(DateTime.makeUnsafe(seen), far))
        return { seen, now: DateTime.formatIso(now), waits }
      }).pipe(Effect.orDie)

      const accept = Effect.gen(function* () {
        const seen = DateTime.formatIso(yield* DateTime.now)
        yield* sql`INSERT INTO retention ${sql.insert({ one: 1, seen })} ON CONFLICT (one) DO UPDATE SET seen = excluded.seen`
      }).pipe(Effect.orDie)

      const worked = new Map<string, { readonly wall: number; readonly uptime: number }>()
      // The timer uses the wall clock: if that jumps ahead repeatedly, the work still runs at most hourly.
      const isTooSoon = Effect.fnUntraced(function* (name: string) {
        const now = { wall: DateTime.toEpochMillis(yield* DateTime.now), uptime: yield* monotonicMillis }
        const last = worked.get(name)
        worked.set(name, now)
        if (last === undefined) return false
        const lasted = now.uptime - last.uptime
        const jumped = now.wall - last.wall - lasted
        if (jumped <= Duration.toMillis("5 minutes") || lasted >= 0.9 * Duration.toMillis(every)) return false
        worked.set(name, last)
        return true
      })

      const begins = Effect.fnUntraced(function* (name: string) {
        const { now, seen, waits } = yield* clock
        if (waits)
          yield* Effect.logWarning(
            `No expired rows are removed: the clock says ${now}, but the house was last active at ${seen}. If the clock is right, run "stoa doctor --accept clock"`,
          )
        if (waits || (yield* isTooSoon(name))) return false
        yield* accept
        return true
      })

      return Retention.of({ clock, accept, begins })
    }),
  )
}

/** The name is that of its timer and its reader. Interrupted work starts again, so it must tolerate repeats. */
export const retentionLayer = <E, R>({
  name,
  work,
}: {
  readonly name: string
  readonly work: Effect.Effect<void, E, R>
}) => {
  const setNext = Effect.gen(function* () {
    const dueAt = DateTime.addDuration(yield* DateTime.now, every)
    yield* (yield* Timers).set({ purpose: name, key: name, dueAt, payload: null })
  })
  /**
   * A house that restarts often still works once an hour. A timer that is further away was set by a clock that was
   * ahead.
   */
  const setFirst = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const soon = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, every))
    const rows = yield* Effect.orDie(sql`SELECT id FROM timers WHERE key = ${name} AND due_at <= ${soon}`)
    if (rows.length === 0) yield* setNext
    const { accept, clock } = yield* Retention
    if ((yield* clock).seen === null) yield* accept
  })
  return Layer.mergeAll(
    readerLayer({
      name,
      atomic: false,
      kinds: ["timer.fired"],
      handle: Effect.fnUntraced(function* ([event]) {
        if (event?.kind !== "timer.fired" || event.body.purpose !== name) return
        if (yield* (yield* Retention).begins(name)) yield* work
        yield* (yield* Journal).transact(setNext)
      }),
    }),
    Layer.effectDiscard(Effect.flatMap(Journal, (journal) => journal.transact(setFirst))),
  )
}
