/** Which reader could not handle a dead letter: the plans have letters too. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE dead_letters ADD COLUMN reader TEXT NOT NULL DEFAULT 'runs'`
})
