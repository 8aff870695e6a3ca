/** The order that a row's name gives it in its series, and how far older texts have been indexed. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE search_index ADD COLUMN tail TEXT`
  yield* sql`CREATE TABLE search_fills (
    name TEXT PRIMARY KEY,
    reached TEXT NOT NULL,
    done_at TEXT
  )`
})
