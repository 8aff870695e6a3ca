/** What an agent is in its team: its role, whether mail wakes it, and whether its runs are held. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE agents ADD COLUMN role TEXT NOT NULL DEFAULT 'worker'`
  yield* sql`ALTER TABLE agents ADD COLUMN auto_wake TEXT NOT NULL DEFAULT 'on'`
  yield* sql`ALTER TABLE agents ADD COLUMN gate TEXT NOT NULL DEFAULT 'open'`
})
