/** The kill switch: what is paused, by whom and why. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE pauses (
    subject TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    by_principal TEXT,
    created_at TEXT NOT NULL
  )`
})
