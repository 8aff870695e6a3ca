/**
 * Looks once a minute for states that must not exist, repairs and counts them: whatever waits must wait for something
 * that can still come. A finding means a bug or a lost notice; the doctor shows how often.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isOpenCall } from "../../calls/CallReads.ts"
import { causedBy, newCorrelation } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { open, waiting } from "../record/lifecycle.ts"
import { makeRunRecorder } from "../record/record.ts"
import { Children } from "../waking/Children.ts"
import { Waits } from "../waiting/Waits.ts"
import { findWaitCycles } from "../waiting/waitRules.ts"
import { Dispatch } from "../working/Dispatch.ts"
import { inState } from "../../store/database/dialect/States.ts"

const every = Duration.minutes(1)
/** Younger rows may be in progress. */
const maxWait = Duration.minutes(1)
const most = 100

export class Watchdog extends Context.Service<
  Watchdog,
  {
    /** One check; returns how often each thing was repaired. */
    readonly look: Effect.Effect<Readonly<Record<string, number>>>
  }
>()("server/runs/upkeep/Watchdog") {
  static readonly layer = Layer.effect(
    Watchdog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const record = yield* makeRunRecorder
      const waits = yield* Waits
      const children = yield* Children
      const dispatch = yield* Dispatch

      const ids = (query: Effect.Effect<ReadonlyArray<object>, unknown>) =>
        Effect.map(Effect.orDie(query), (rows) => (rows as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id))
      const openCall = isOpenCall(sql, "c")

      /** Each in its own transaction: one that cannot be repaired does not block the others. */
      const each = (found: ReadonlyArray<string>, repair: (id: string) => Effect.Effect<unknown, never, Transaction>) =>
        Effect.map(
          Effect.forEach(found, (id) =>
            Effect.as(journal.transact(repair(id)), 1).pipe(
              Effect.catchCause((cause) => Effect.as(Effect.logError(`The watchdog could not repair ${id}`, cause), 0)),
            ),
          ),
          (done) => done.reduce<number>((sum, one) => sum + one, 0),
        )

      // CROSS JOIN: SQLite starts with the first table, which has few open rows. With LIMIT alone it would read the
      // other.
      const checks: Readonly<Record<string, (before: string) => Effect.Effect<number>>> = {
        "a run that waits for nothing": () =>
          Effect.flatMap(
            ids(sql`SELECT r.id FROM runs r WHERE ${inState(sql, open, "r")} AND ${inState(sql, waiting, "r")}
              AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = r.id AND ${openCall})
              AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.run = r.id AND w.state = 'open') LIMIT ${most}`),
            (found) => each(found, (id) => record.ring([id])),
          ),
        "a wait past its time": (before) =>
          Effect.flatMap(
            ids(sql`SELECT id FROM waits WHERE state = 'open' AND deadline_at < ${before} LIMIT ${most}`),
            (found) => each(found, waits.expire),
          ),
        "a wait of a run that is over": () =>
          Effect.flatMap(
            ids(sql`SELECT DISTINCT w.run AS id FROM waits w CROSS JOIN runs r
              WHERE w.state = 'open' AND r.id = w.run AND r.state IN ('completed', 'failed', 'canceled') LIMIT ${most}`),
            (found) => each(found, waits.cancelOf),
          ),
        "a wait for somebody whose run is over": (before) =>
          Effect.gen(function* () {
            const rows = yield* Effect.orDie(
              sql<{ principal: string; message: string }>`SELECT DISTINCT p.principal, w.message FROM waits w
                JOIN wait_parties p ON p.wait = w.id JOIN triggers t ON t.agent = p.principal AND t.message = w.message
                JOIN runs r ON r.id = t.run WHERE w.state = 'open' AND p.state = 'awaited' AND r.ended_at < ${before}
                AND NOT EXISTS (SELECT 1 FROM triggers o JOIN runs l ON l.id = o.run
                  WHERE o.agent = p.principal AND o.message = w.message AND l.ended_at IS NULL) LIMIT ${most}`,
            )
            const of = new Map(rows.map((row) => [`${row.principal} ${row.message}`, row]))
            return yield* each([...of.keys()], (key) => {
              const { message, principal } = of.get(key)!
              return waits.silence(principal, "silent", message)
            })
          }),
        "a wait for somebody who has left": () =>
          Effect.flatMap(
            ids(sql`SELECT DISTINCT p.principal AS id FROM waits w CROSS JOIN wait_parties p CROSS JOIN principals q
              WHERE w.state = 'open' AND p.wait = w.id AND q.id = p.principal AND p.state = 'awaited' AND q.retired_at IS NOT NULL LIMIT ${most}`),
            (found) => each(found, (principal) => waits.silence(principal, "gone")),
          ),
        "a ring of waits without an end": () =>
          Effect.gen(function* () {
            const rows = yield* Effect.orDie(
              sql<{
                id: string
                agent: string
                principal: string
                message: string
                openedAt: string
              }>`SELECT w.id, w.agent,
                p.principal, w.message, w.opened_at FROM waits w CROSS JOIN wait_parties p
                WHERE w.state = 'open' AND p.wait = w.id AND w.deadline_at IS NULL AND p.state = 'awaited' LIMIT 10000`,
            )
            const inRing = findWaitCycles(rows.map(({ agent, principal }) => [agent, principal] as const))
            const newest = rows
              .filter(({ agent, principal }) => inRing.has(agent) && inRing.has(principal))
              .toSorted((one, other) => (one.openedAt < other.openedAt ? 1 : -1))[0]
            if (newest === undefined) return 0
            return yield* each([newest.id], () => waits.silence(newest.principal, "silent", newest.message))
          }),
        "a call that waits for no run": (before) =>
          Effect.flatMap(
            ids(sql`SELECT c.id FROM calls c WHERE ${openCall} AND c.state = 'waiting' AND c.on_kind = 'run' AND c.created_at < ${before}
              AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.parent_call = c.id) LIMIT ${most}`),
            (found) => each(found, children.called),
          ),
        "a call that waits for a run that is over": (before) =>
          Effect.flatMap(
            ids(sql`SELECT r.id FROM runs r JOIN calls c ON c.id = r.parent_call
              WHERE ${openCall} AND c.state = 'waiting' AND c.on_kind = 'run' AND r.ended_at < ${before} LIMIT ${most}`),
            (found) => each(found, children.ended),
          ),
        "a run of this house that nobody works on": () => dispatch.orphans,
      }

      const note = (name: string, times: number, at: string) =>
        Effect.orDie(sql`INSERT INTO repairs ${sql.insert({ name, times, lastAt: at })} ON CONFLICT (name)
          DO UPDATE SET times = repairs.times + excluded.times, last_at = excluded.last_at`)

      const look = Effect.gen(function* () {
        // wall clock: compared with moments that are stored.
        const now = yield* Clock.currentTimeMillis
        const at = DateTime.formatIso(DateTime.makeUnsafe(now))
        const before = DateTime.formatIso(DateTime.makeUnsafe(now - Duration.toMillis(maxWait)))
        const found: Record<string, number> = {}
        for (const [name, check] of Object.entries(checks)) {
          const times = yield* check(before)
          if (times === 0) continue
          found[name] = times
          yield* note(name, times, at)
          yield* Effect.logWarning(`The watchdog repaired ${name}, ${times} times`)
        }
        return found
      }).pipe((work) =>
        Effect.suspend(() => causedBy({ correlationId: newCorrelation(), actor: null, provenance: "house" }, work)),
      )

      yield* Effect.andThen(Effect.sleep(every), look).pipe(
        Effect.catchCause((cause) => Effect.logError("The watchdog failed and will try again", cause)),
        Effect.forever,
        Effect.forkScoped,
      )
      return Watchdog.of({ look })
    }),
  )
}
