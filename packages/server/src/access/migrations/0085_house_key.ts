/** A check value by which a house knows whether it has the key that its secrets are encrypted with. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE house_key (id INTEGER PRIMARY KEY, value TEXT NOT NULL)`
})
