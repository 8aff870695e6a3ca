/** What a sub-agent is told to be, and approvals that hold for one run. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN config TEXT`
  yield* sql`ALTER TABLE approvals ADD COLUMN run TEXT`
})
