/**
 * Since when somebody is an admin, and who made a token: an approval ignores rights and tokens that were made for it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE principals ADD COLUMN admin_since TEXT`
  yield* sql`UPDATE principals SET admin_since = created_at WHERE roles LIKE '%"admin"%'`
  yield* sql`ALTER TABLE tokens ADD COLUMN issued_by TEXT`
})
