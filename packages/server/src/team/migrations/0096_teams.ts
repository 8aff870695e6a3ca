/** The space of an agent and the agents that work for it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE team_spaces (parent TEXT PRIMARY KEY, space TEXT NOT NULL)`
})
