/**
 * The newest records of an owner, of those that are there: without statistics Postgres took the index of slots, read
 * everything the owner has and sorted it. An index that fits the question exactly costs it no sort, whatever it knows.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX memory_records_newest ON memory_records (owner, updated_at, id) WHERE deleted_at IS NULL`
  yield* sql`DROP INDEX memory_records_owner`
})
