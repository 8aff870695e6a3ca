/** Questions by when they were asked and answered, for figures over a span of time. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX decisions_created ON decisions (created_at)`
  yield* sql`CREATE INDEX decisions_answered ON decisions (answered_at) WHERE answered_at IS NOT NULL`
})
