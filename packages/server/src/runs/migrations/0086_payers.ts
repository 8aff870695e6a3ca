/** Who a run works for beside its agent, what that has cost them, and what the watchdog has put right. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`ALTER TABLE runs ADD COLUMN payer TEXT`
  yield* sql`ALTER TABLE spend ADD COLUMN caused_micros ${bigint} NOT NULL DEFAULT 0`
  yield* sql`CREATE TABLE repairs (name TEXT PRIMARY KEY, times ${bigint} NOT NULL, last_at TEXT NOT NULL)`
  yield* sql`CREATE INDEX spend_day ON spend (day)`
  yield* sql`CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL`
})
