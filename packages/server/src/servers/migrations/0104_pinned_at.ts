/** Since when a tool of a server has had the definition that it is pinned as. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE mcp_tools ADD COLUMN pinned_at TEXT`
  // When what was accepted since came about is not known: no sooner than it was first seen.
  yield* sql`UPDATE mcp_tools SET pinned_at = first_seen_at`
})
