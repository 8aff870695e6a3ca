/** A share is an offer until its receiver takes it; what was shared before counts as taken. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE memory_shares ADD COLUMN state TEXT NOT NULL DEFAULT 'taken'`
  yield* sql`ALTER TABLE memory_shares ADD COLUMN answered_by TEXT`
  yield* sql`ALTER TABLE memory_shares ADD COLUMN answered_at TEXT`
  yield* sql`DROP INDEX memory_shares_principal`
  yield* sql`CREATE INDEX memory_shares_principal ON memory_shares (principal, state, created_at, record)`
})
