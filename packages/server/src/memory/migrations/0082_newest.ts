/**
 * The newest records of an owner that are not deleted: without statistics Postgres used the index of slots, read all of
 * the owner's records and sorted them. With an index that matches the query exactly it never sorts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX memory_records_newest ON memory_records (owner, updated_at, id) WHERE deleted_at IS NULL`
  yield* sql`DROP INDEX memory_records_owner`
})
