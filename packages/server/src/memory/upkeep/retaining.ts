/**
 * Retention of history, in steps, each in its own transaction: if it is interrupted, the rest follows the next time.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Storage } from "../../access/limits/Storage.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { withinADay } from "../../store/Moment.ts"
import type { RecordRow } from "../records/rows.ts"
import { makeStoring } from "../records/storing.ts"
import { makeVersions } from "../records/versions.ts"

const atOnce = 100

export const makeRetaining = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const storage = yield* Storage
  const { about, drop, weigh } = yield* makeStoring
  const { removeVersions } = makeVersions(sql)
  const held = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))

  const oldVersions = (before: string) =>
    sql<{ record: string; version: number }>`SELECT v.record, v.version FROM memory_versions v
      JOIN memory_records r ON r.id = v.record WHERE v.at < ${before} AND v.version < r.version LIMIT ${atOnce}`

  const dropVersions = Effect.fnUntraced(function* (before: string) {
    const rows = yield* oldVersions(before)
    const byRecord = [...Map.groupBy(rows, ({ record }) => record)].toSorted(([one], [other]) => (one < other ? -1 : 1))
    for (const [record, old] of byRecord) {
      // Locked: whoever writes the record at this moment may need a text again.
      const [row] = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE id = ${record} ${held}`
      if (row === undefined) continue
      const bytes = yield* weigh(row)
      const less = yield* removeVersions(
        record,
        old.map(({ version }) => version),
      )
      yield* sql`UPDATE memory_records SET bytes = ${bytes - less} WHERE id = ${record}`
      yield* storage.recount(row.owner, -less)
    }
    return rows.length
  }, Effect.orDie)

  const dropRecords = Effect.fnUntraced(function* (before: string) {
    const rows = yield* sql<RecordRow>`SELECT * FROM memory_records
      WHERE deleted_at IS NOT NULL AND deleted_at < ${before} LIMIT ${atOnce}`
    for (const row of rows) {
      const body = { ...(yield* about(row)), version: row.version, permanent: true }
      yield* drop(row)
      yield* journal.append({ kind: "memory.deleted", body })
    }
    return rows.length
  }, Effect.orDie)

  const stepwise = Effect.fnUntraced(function* (
    step: (before: string) => ReturnType<typeof dropRecords>,
    before: string,
  ) {
    let removed = 0
    while (true) {
      const some = yield* journal.transact(step(before))
      removed += some
      if (some < atOnce) return removed
    }
  })

  const retain = Effect.fn("Memories.retain")(function* (terms: {
    readonly versions: string
    readonly deleted: string
  }) {
    const oldest = yield* sql<{ at: string | null }>`SELECT min(v.at) AS at FROM memory_versions v
      JOIN memory_records r ON r.id = v.record WHERE v.version < r.version`
    const first = yield* sql<{ at: string | null }>`SELECT min(deleted_at) AS at FROM memory_records`
    // At most a day's worth: a wrong clock does little damage before somebody notices.
    return {
      versions: yield* stepwise(dropVersions, withinADay(oldest[0]?.at, terms.versions)),
      records: yield* stepwise(dropRecords, withinADay(first[0]?.at, terms.deleted)),
    }
  }, Effect.orDie)

  return { retain }
})
