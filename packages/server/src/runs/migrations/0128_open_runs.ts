/** An agent's open runs, however many of its have ended. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX runs_open ON runs (agent, id) WHERE state IN ('queued', 'running', 'waiting_tool', 'waiting_reply')`
  // Those that wait are among them.
  yield* sql`DROP INDEX runs_waiting`
})
