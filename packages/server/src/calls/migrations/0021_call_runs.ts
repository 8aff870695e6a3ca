/**
 * The run a call is part of: the step that asked for it, and its place among that step's calls, which is taken once. And the
 * process that holds a host's line.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE calls ADD COLUMN run TEXT`
  yield* sql`ALTER TABLE calls ADD COLUMN step INTEGER`
  yield* sql`ALTER TABLE calls ADD COLUMN place INTEGER`
  yield* sql`ALTER TABLE hosts ADD COLUMN holder TEXT`
  yield* sql`CREATE UNIQUE INDEX calls_place ON calls (run, step, place) WHERE run IS NOT NULL`
})
