/** The run in which a plan was created: the run that it wakes is one level deeper. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE memory_plans ADD COLUMN run TEXT`
})
