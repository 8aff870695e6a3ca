/**
 * For a call that a run took over from an earlier run: the call that was actually made, for which people and answers
 * were waited.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE calls ADD COLUMN copy_of TEXT`
})
