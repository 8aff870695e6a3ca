/** The format in which each event was written; existing events have the first. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE journal ADD COLUMN version INTEGER NOT NULL DEFAULT 1`
})
