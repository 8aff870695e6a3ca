/** Which spaces the configuration file owns. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE declared_spaces (space TEXT PRIMARY KEY REFERENCES spaces (id))`
})
