/** Every event paid for an index by kind, but only the events of the house itself are looked up by it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX journal_kind_at`
  yield* sql`CREATE INDEX journal_house ON journal (kind, at) WHERE kind IN ('house.backed-up', 'house.started')`
})
