/** The processes that are alive, one lease each. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE holders (id TEXT PRIMARY KEY, lease_until DOUBLE PRECISION NOT NULL)`
})
