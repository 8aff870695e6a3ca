/** What a call that waits needs to go on as it was made: its caller's token, run and turn, and its scope. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE calls ADD COLUMN resume TEXT`
})
