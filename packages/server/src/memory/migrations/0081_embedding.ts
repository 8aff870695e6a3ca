/** The progress of embedding: the model, the last record, and the event to continue from. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`CREATE TABLE memory_embedding (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    model TEXT NOT NULL,
    reached TEXT NOT NULL,
    swept_at TEXT,
    cursor ${bigint} NOT NULL,
    problem TEXT,
    lease_owner TEXT,
    lease_until TEXT
  )`
})
