/** The messages that have answered a wait. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE wait_replies (wait TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (wait, message))`
})
