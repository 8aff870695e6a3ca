/** When plans are due, and whether they are done; their content is in their record. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE memory_plans (
    record TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    next_run_at TEXT,
    last_run_at TEXT
  )`
  yield* sql`CREATE INDEX memory_plans_owner ON memory_plans (owner)`
})
