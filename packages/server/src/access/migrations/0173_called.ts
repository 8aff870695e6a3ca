/** What the agents of a team call one of theirs whose name is taken elsewhere in the house: there it has its path. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE agents ADD COLUMN called TEXT`
})
