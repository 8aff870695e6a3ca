/**
 * How far an approval may reach at most, as the tool said when it was asked. Of older questions nobody knows it any more:
 * they are approved once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE decisions ADD COLUMN max_reach TEXT NOT NULL DEFAULT 'once'`
})
