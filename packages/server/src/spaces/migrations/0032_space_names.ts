/**
 * A name that one cannot see is free: two spaces may have the same. `lookup_key` is what a space is found by; `name_key`
 * stays unique as the order of lists, by name and then by id.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE spaces ADD COLUMN lookup_key TEXT NOT NULL DEFAULT ''`
  yield* sql`UPDATE spaces SET lookup_key = name_key, name_key = name_key || ' ' || id`
  yield* sql`CREATE INDEX spaces_lookup ON spaces (lookup_key)`
})
