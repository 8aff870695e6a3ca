/** Most events belong to no space, so they need no entry in the index of spaces. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX journal_space`
  yield* sql`CREATE INDEX journal_space ON journal (space, cursor) WHERE space IS NOT NULL`
})
