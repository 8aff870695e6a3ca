/** The language models that the configuration file declares. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE models (name TEXT PRIMARY KEY, declared TEXT NOT NULL)`
})
