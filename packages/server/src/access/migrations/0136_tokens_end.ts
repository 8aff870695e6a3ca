/** A certificate made or renewed under a token that expires cannot be renewed past the end of that token. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tokens ADD COLUMN latest_end TEXT`
})
