/** A delegation has the token that made it, and ends with it. Older delegations end within a day. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE delegations ADD COLUMN token TEXT`
  yield* sql`CREATE INDEX delegations_token ON delegations (token) WHERE token IS NOT NULL`
})
