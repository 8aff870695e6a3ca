/** What the runs of one chat session have spent is asked before each of their thoughts. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX runs_trigger_space ON runs (trigger_space) WHERE trigger_space IS NOT NULL`
})
