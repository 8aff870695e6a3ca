/** Every event paid for an index by its kind, which only the events of the house itself are looked up by. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX journal_kind_at`
  yield* sql`CREATE INDEX journal_house ON journal (kind, at) WHERE kind IN ('house.backed-up', 'house.started')`
})
