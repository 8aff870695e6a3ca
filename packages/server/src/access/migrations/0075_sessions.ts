/** A browser's session is a token of its own that was made from another, and ends with it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tokens ADD COLUMN parent TEXT`
  yield* sql`CREATE INDEX tokens_parent ON tokens (parent) WHERE parent IS NOT NULL`
})
