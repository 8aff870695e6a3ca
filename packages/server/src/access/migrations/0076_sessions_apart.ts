/**
 * A browser's session is no longer a bearer token: a cookie's secret is hashed differently. Older sessions would still
 * work as tokens, so they end here; people sign in again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE tokens SET revoked_at = created_at WHERE parent IS NOT NULL AND revoked_at IS NULL`
})
