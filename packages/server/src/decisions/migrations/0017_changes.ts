/** Changes of rights that wait for a second person, each with the decision it waits for. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE rights_changes (
    decision TEXT PRIMARY KEY,
    principal TEXT NOT NULL REFERENCES principals (id),
    context TEXT NOT NULL,
    token TEXT,
    expires_at TEXT,
    change TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`
})
