/** When the house last worked, for code that removes rows by the clock. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE retention (one INTEGER PRIMARY KEY CHECK (one = 1), seen TEXT NOT NULL)`
  yield* sql`INSERT INTO retention (one, seen) SELECT 1, at FROM journal ORDER BY cursor DESC LIMIT 1`
})
