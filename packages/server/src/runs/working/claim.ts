/**
 * Who is next, and taken. A slot is a run in `running`; a mailbox has as many at once as it is wide. Mailboxes with the fewest
 * running come first, then what goes on before what is new, since somebody waits for it, then the oldest. One a mailbox and
 * pass, so that a long queue of one agent costs the others nothing.
 */
import { Clock, DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../store/journal/Journal.ts"
import { from, to } from "../lifecycle.ts"
import type { Record } from "../record.ts"
import type { RunRow } from "../rows.ts"

export const makeClaim = Effect.fnUntraced(function* (record: Record, me: string) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal

  const candidates = (now: number) => sql`SELECT r.id, r.resumed, r.ready_at, r.width,
      (SELECT count(*) FROM runs x WHERE x.mailbox = r.mailbox AND x.state = 'running') AS busy,
      row_number() OVER (PARTITION BY r.mailbox ORDER BY r.resumed DESC, r.ready_at, r.id) AS place
    FROM runs r WHERE r.state = 'queued' AND r.ready_at <= ${now}
      AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.subject = 'everything' OR p.subject = 'agents/' || r.agent)
      AND (r.after_run IS NULL OR NOT EXISTS (SELECT 1 FROM runs b WHERE b.id = r.after_run AND b.state IN ('queued', 'running')))`

  // Nobody is waited for while others are held: who is locked now is claimed in the next pass.
  const unlocked = sql.onDialectOrElse({
    pg: () => sql`ORDER BY runs.id FOR UPDATE SKIP LOCKED`,
    orElse: () => sql``,
  })

  /** At most so many; each is this house's from now on. */
  const claim = Effect.fnUntraced(function* (most: number) {
    // wall clock: moments that are stored.
    const now = yield* Clock.currentTimeMillis
    const iso = DateTime.formatIso(yield* DateTime.now)
    return yield* journal.transact(
      Effect.gen(function* () {
        const rows = yield* Effect.orDie(sql<RunRow>`UPDATE runs SET state = ${to("claim")}, owner = ${me},
          fence = fence + 1, started_at = COALESCE(started_at, ${iso}) WHERE id IN (
            SELECT id FROM runs WHERE ${sql.in("state", from("claim"))} AND id IN (
              SELECT id FROM (${candidates(now)}) AS next WHERE place = 1 AND busy < width
              ORDER BY busy, resumed DESC, ready_at, id LIMIT ${most}) ${unlocked}) RETURNING *`)
        for (const row of rows)
          if (row.fence === 1)
            yield* record.because(
              row,
              journal.append({ kind: "run.started", ...record.inSpace(row), body: record.about(row) }),
            )
        return rows
      }),
    )
  })

  /** What a house that is gone worked on: taken over under a new fence. One by one: others may ring several at this moment. */
  const recover = Effect.gen(function* () {
    const left = yield* sql<{ id: string }>`SELECT id FROM runs WHERE ${sql.in("state", from("recover"))} ORDER BY id`
    const rows: Array<RunRow> = []
    for (const { id } of left)
      rows.push(
        ...(yield* sql<RunRow>`UPDATE runs SET owner = ${me}, fence = fence + 1, attempts = attempts + 1
          WHERE id = ${id} AND ${sql.in("state", from("recover"))} RETURNING *`),
      )
    return rows
  }).pipe(Effect.orDie)

  /** When the next is due that is not yet. */
  const nextDue = Effect.fnUntraced(function* () {
    // wall clock: moments that are stored.
    const now = yield* Clock.currentTimeMillis
    const rows = yield* Effect.orDie(
      sql<{ at: number | null }>`SELECT min(ready_at) AS at FROM runs WHERE state = 'queued' AND ready_at > ${now}`,
    )
    const at = rows[0]?.at ?? null
    return at === null ? undefined : Math.max(1, at - now)
  })

  const handBack = (row: RunRow) =>
    Effect.orDie(sql`UPDATE runs SET state = ${to("handBack")}, owner = NULL, resumed = 1
      WHERE id = ${row.id} AND fence = ${row.fence} AND ${sql.in("state", from("handBack"))}`)

  return { claim, recover, nextDue, handBack }
})
