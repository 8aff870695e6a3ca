/** The calls of one tool are found without reading those of all others. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX calls_tool ON calls (tool, id)`
})
