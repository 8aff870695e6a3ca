/** Since when somebody rules the house, and who made a token: an approval counts neither rights nor tokens made for it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE principals ADD COLUMN admin_since TEXT`
  yield* sql`UPDATE principals SET admin_since = created_at WHERE roles LIKE '%"admin"%'`
  yield* sql`ALTER TABLE tokens ADD COLUMN issued_by TEXT`
})
