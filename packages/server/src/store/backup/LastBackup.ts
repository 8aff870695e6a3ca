/** When a backup was last made through the house, and since when the house has recorded this. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const lastBackup = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // SQLite uses the partial index on these two kinds only if the query names both.
  const ofHouse = sql`kind IN ('house.backed-up', 'house.started')`
  const rows = yield* sql<{ backupAt: string | null; knownSince: string | null }>`SELECT
    (SELECT max(at) FROM journal WHERE ${ofHouse} AND kind = 'house.backed-up'
      AND body NOT LIKE '%"complete":false%') AS backup_at,
    (SELECT min(at) FROM journal WHERE ${ofHouse} AND kind = 'house.started') AS known_since`
  return rows[0]!
}).pipe(Effect.orDie)
