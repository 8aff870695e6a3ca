/** What an agent has besides its identity: persona, models, limits, thinker, and the agent it works for. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE agents (
    principal TEXT PRIMARY KEY,
    persona TEXT,
    model TEXT,
    limits TEXT NOT NULL,
    thinker TEXT NOT NULL,
    parent TEXT
  )`
  yield* sql`CREATE INDEX agents_parent ON agents (parent) WHERE parent IS NOT NULL`
})
