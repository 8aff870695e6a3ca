/** The run that a plan was made in: what it wakes is deeper by one. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE memory_plans ADD COLUMN run TEXT`
})
