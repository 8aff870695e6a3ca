/** Removes expired runs with their steps, prompts, triggers and waits. */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { forgetActiveSpaces } from "../../spaces/ActiveSpaces.ts"
import { withinADay } from "../../store/Moment.ts"
import { retentionLayer } from "../../store/journal/retention/Retention.ts"

/** How many are removed in one transaction, so that the writer is never held for long. */
const atOnce = 200

const clean = (days: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const term = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days }))
    const oldest = yield* sql<{ at: string | null }>`SELECT min(ended_at) AS at FROM runs WHERE ended_at IS NOT NULL`
    const before = withinADay(oldest[0]?.at ?? undefined, term)

    const step = Effect.gen(function* () {
      // A run that another still waits for, or is part of, is kept until that one is removed.
      const rows = yield* sql<{ id: string }>`SELECT r.id FROM runs r WHERE r.ended_at < ${before}
        AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.root = r.id AND o.id <> r.id AND (o.ended_at IS NULL OR o.ended_at >= ${before}))
        ORDER BY r.ended_at LIMIT ${atOnce}`
      if (rows.length === 0) return 0
      const ids = rows.map(({ id }) => id)
      const waits = (yield* sql<{ id: string }>`SELECT id FROM waits WHERE ${sql.in("run", ids)}`).map(({ id }) => id)
      if (waits.length > 0) {
        yield* sql`DELETE FROM wait_replies WHERE ${sql.in("wait", waits)}`
        yield* sql`DELETE FROM wait_parties WHERE ${sql.in("wait", waits)}`
        yield* sql`DELETE FROM waits WHERE ${sql.in("id", waits)}`
      }
      yield* sql`DELETE FROM run_messages WHERE ${sql.in("run", ids)}`
      yield* sql`DELETE FROM steps WHERE ${sql.in("run", ids)}`
      yield* forgetActiveSpaces(sql, ids)
      yield* sql`DELETE FROM triggers WHERE ${sql.in("run", ids)}`
      yield* sql`DELETE FROM runs WHERE ${sql.in("id", ids)}`
      return ids.length
    }).pipe(sql.withTransaction)

    let removed = 0
    for (let gone = yield* step; gone > 0; gone = yield* step) removed += gone
    const letters = yield* sql`DELETE FROM dead_letters WHERE state <> 'open' AND at < ${before} RETURNING id`
    yield* Effect.logInfo(`Retention removed ${removed} runs and ${letters.length} dead letters`)
  })

/** `days`: how long after its end a run is kept. */
export const layerRunRetention = (days: number) => retentionLayer({ name: "run-retention", work: clean(days) })
