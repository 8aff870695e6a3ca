/** Why a question is asked, where an answer is given outside, and what stands behind the tool it is about. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE decisions ADD COLUMN rule TEXT`
  yield* sql`ALTER TABLE decisions ADD COLUMN url TEXT`
  yield* sql`ALTER TABLE decisions ADD COLUMN server TEXT`
  yield* sql`ALTER TABLE decisions ADD COLUMN pinned_at TEXT`
})
