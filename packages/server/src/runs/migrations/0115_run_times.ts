/** What steps cost by when they were said, for figures over a span of time. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Only those that cost something, with all that is asked of them: what was said may be long, and is not read.
  yield* sql`CREATE INDEX steps_cost ON steps (said_at, run, cost_micros) WHERE cost_micros > 0`
})
