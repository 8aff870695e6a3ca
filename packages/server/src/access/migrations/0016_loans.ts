/** A delegation has the context of the giver's token. Older delegations end within a day. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE delegations ADD COLUMN context TEXT NOT NULL DEFAULT 'agent'`
})
