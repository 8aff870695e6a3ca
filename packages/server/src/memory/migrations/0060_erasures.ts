/** Whose memory is being erased: stored first, so that an erasure is finished after a kill -9. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE memory_erasures (owner TEXT PRIMARY KEY, at TEXT NOT NULL)`
})
