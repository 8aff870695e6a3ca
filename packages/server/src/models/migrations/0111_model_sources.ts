/** Who owns a model: the configuration file, or the house itself. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE models ADD COLUMN source TEXT NOT NULL DEFAULT 'file'`
})
