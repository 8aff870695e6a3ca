/**
 * The newest row of the audit trail, sealed, so that removing rows from its end is noticed; and a seal for its anchor.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq ${bigint} NOT NULL,
    hash TEXT NOT NULL,
    cursor ${bigint} NOT NULL,
    seal TEXT NOT NULL
  )`
  // Migrations have no key: the first batch of the audit seals existing rows.
  yield* sql`INSERT INTO audit_head (one, seq, hash, cursor, seal)
    SELECT 1, newest.seq, newest.hash, coalesce((SELECT cursor FROM readers WHERE name = 'audit'), 0), '' FROM (
      SELECT seq, hash FROM audit UNION ALL SELECT seq, hash FROM audit_anchor ORDER BY seq DESC LIMIT 1
    ) AS newest`
  yield* sql`ALTER TABLE audit_anchor ADD COLUMN seal TEXT NOT NULL DEFAULT ''`
})
