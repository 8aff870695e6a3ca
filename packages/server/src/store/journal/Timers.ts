/**
 * Due times as rows: expiry, plans, retries, retention. Claimed by lease; each firing appends one `timer.fired` to the
 * journal.
 */
import type { CorrelationId, TimerId } from "@stoa/contract"
import { Clock, Context, DateTime, Duration, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeRowInsert } from "../database/dialect/Inserts.ts"
import { Bell } from "./signals/Bell.ts"
import { monotonicOf } from "../Moment.ts"
import { claimDue, freeLeases } from "../leases/Claims.ts"
import { Holder, isGone } from "../leases/Holder.ts"
import { causedBy, currentCause, newId } from "./Correlation.ts"
import { Journal, type Transaction } from "./Journal.ts"
import { Notices } from "./signals/Notices.ts"

const lease = Duration.seconds(15)

interface Row {
  readonly id: TimerId
  readonly purpose: string
  readonly dueAt: string
  readonly payload: string
  readonly correlationId: string
}

export class Timers extends Context.Service<
  Timers,
  {
    /** Sets a timer in the caller's transaction. A key makes it unique: setting it again moves it. */
    readonly set: (timer: {
      readonly purpose: string
      readonly dueAt: DateTime.Utc
      readonly payload: Schema.Json
      readonly key?: string
    }) => Effect.Effect<TimerId, never, Transaction>
    readonly cancel: (id: TimerId) => Effect.Effect<boolean, never, Transaction>
    readonly cancelKeys: (keys: ReadonlyArray<string>) => Effect.Effect<void, never, Transaction>
    readonly pending: Effect.Effect<number>
  }
>()("server/store/journal/Timers") {
  static readonly layer = Layer.effect(
    Timers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const notices = yield* Notices
      const { id: me } = yield* Holder
      yield* Effect.orDie(freeLeases(sql, "timers"))
      const bell = new Bell()
      const clock = yield* Clock.Clock
      /** When the loop below wakes by itself; undefined while it works. A timer that is due later need not wake it. */
      let wakesAt: number | undefined
      // Both are durations, since the wall clock may be set. Without a time anything may be due: listening began again.
      yield* notices.listen("timers", (dueAt) => {
        // wall clock: a due time is agreed with whoever set the timer.
        const isLater = () => Date.parse(dueAt) - clock.currentTimeMillisUnsafe() >= wakesAt! - monotonicOf(clock)
        if (dueAt === "" || wakesAt === undefined || !isLater()) bell.ring()
      })

      const insert = makeRowInsert<{ id: TimerId }>(
        sql,
        "timers",
        `ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at, payload = excluded.payload, purpose = excluded.purpose,
          correlation_id = excluded.correlation_id, lease_until = NULL RETURNING id`,
      )
      const set: Timers["Service"]["set"] = Effect.fn("Timers.set")(function* ({ dueAt, key, payload, purpose }) {
        const id = newId<TimerId>("tmr")
        const row = {
          id,
          purpose,
          key: key ?? null,
          dueAt: DateTime.formatIso(dueAt),
          payload: JSON.stringify(payload),
          correlationId: (yield* currentCause).correlationId,
        }
        const rows = yield* insert(row)
        yield* notices.send("timers", row.dueAt)
        return rows[0]!.id
      }, Effect.orDie)

      const cancel: Timers["Service"]["cancel"] = Effect.fn("Timers.cancel")(
        (id: TimerId) => Effect.map(sql`DELETE FROM timers WHERE id = ${id} RETURNING id`, (rows) => rows.length > 0),
        Effect.orDie,
      )

      const cancelKeys: Timers["Service"]["cancelKeys"] = (keys) =>
        Effect.asVoid(Effect.orDie(sql`DELETE FROM timers WHERE ${sql.in("key", keys)}`))

      // The process that deletes the row fires it, with the row's present values: a timer that was moved or canceled
      // meanwhile does not fire.
      const fire = Effect.fnUntraced(function* (id: TimerId, now: DateTime.Utc) {
        const rows = yield* sql<Row>`DELETE FROM timers
          WHERE id = ${id} AND lease_owner = ${me} AND due_at <= ${DateTime.formatIso(now)} RETURNING *`
        yield* Effect.forEach(rows, (row) =>
          causedBy(
            { correlationId: row.correlationId as CorrelationId, actor: null, provenance: "house" },
            journal.append({
              kind: "timer.fired",
              body: { timer: row.id, purpose: row.purpose, payload: JSON.parse(row.payload) as Schema.Json },
            }),
          ),
        )
      })

      /** Milliseconds until the next timer is due; for a row that another process has claimed, until its lease ends. */
      const untilNext = Effect.fnUntraced(function* (now: DateTime.Utc) {
        const moment = DateTime.formatIso(now)
        // Two lookups in the index of due times: one over all timers would read every waiting timer.
        const at = (yield* sql<{ at: string | null }>`SELECT min(at) AS at FROM (
          SELECT min(due_at) AS at FROM timers WHERE due_at > ${moment}
          UNION ALL SELECT min(CASE WHEN lease_until > ${moment} THEN lease_until ELSE due_at END) FROM timers
            WHERE due_at <= ${moment}) AS next`)[0]?.at
        const most = Duration.toMillis(notices.maxDelay)
        if (at === null || at === undefined) return most
        return Math.min(
          Math.max(DateTime.toEpochMillis(DateTime.makeUnsafe(at)) - DateTime.toEpochMillis(now), 1),
          most,
        )
      })

      const pass = Effect.gen(function* () {
        const heard = bell.rung
        const now = yield* DateTime.now
        const due = yield* claimDue<Row>(sql, {
          table: "timers",
          owner: me,
          now,
          lease,
          limit: 100,
          orIf: isGone(sql, "lease_owner"),
        })
        const inOrder = due.toSorted((a, b) => (a.dueAt < b.dueAt ? -1 : a.dueAt > b.dueAt ? 1 : 0))
        if (due.length > 0)
          return yield* journal.transact(Effect.forEach(inOrder, (row) => fire(row.id, now), { discard: true }))
        const millis = yield* untilNext(now)
        wakesAt = monotonicOf(clock) + millis
        yield* Effect.timeoutOption(bell.waitPast(heard), Duration.millis(millis))
      })
      yield* pass.pipe(
        Effect.ensuring(Effect.sync(() => void (wakesAt = undefined))),
        Effect.tapCause((cause) => Effect.logError("The timers failed and will try again", cause)),
        Effect.sandbox,
        Effect.retry(Schedule.spaced("1 second")),
        Effect.orDie,
        Effect.forever,
        Effect.forkScoped,
      )

      const pending = sql<{ n: number }>`SELECT count(*) AS n FROM timers`.pipe(
        Effect.map((rows) => rows[0]!.n),
        Effect.orDie,
      )
      return Timers.of({ set, cancel, cancelKeys, pending })
    }),
  )
}
