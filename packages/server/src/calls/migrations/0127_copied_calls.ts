/** Of a call that a run took over from an earlier one: the call that was made, whom people and answers were waited for by. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE calls ADD COLUMN copy_of TEXT`
})
