/**
 * A space that the configuration file has retired is still remembered as the file's, so that the file can take it back.
 * One that it retired before this counts as made at run time.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE declared_spaces ADD COLUMN retired_at TEXT`
})
