/** The audit records where a call was made and how long it took (S4-28). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE audit ADD COLUMN space TEXT`
  yield* sql`ALTER TABLE audit ADD COLUMN duration_ms INTEGER`
})
