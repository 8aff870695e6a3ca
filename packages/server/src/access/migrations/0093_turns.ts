/** A token may be for one turn of a run: the program that has it acts only for that run and step. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tokens ADD COLUMN run TEXT`
  yield* sql`ALTER TABLE tokens ADD COLUMN step INTEGER`
  yield* sql`ALTER TABLE tokens ADD COLUMN root TEXT`
  yield* sql`CREATE INDEX tokens_run ON tokens (run) WHERE run IS NOT NULL`
})
