/** The session that an agent's program keeps itself, so that its next turn goes on where the last one ended. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE program_sessions (
    agent TEXT NOT NULL,
    program TEXT NOT NULL,
    session TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (agent, program)
  )`
  // What hangs on a run and not on a call has been told to it in this step.
  yield* sql`ALTER TABLE waits ADD COLUMN told INTEGER`
  yield* sql`CREATE INDEX waits_run ON waits (run) WHERE run IS NOT NULL`
  // An envelope of a team: who is meant, as what, in answer to what. Delivered in this run, or by looking into the inbox.
  yield* sql`ALTER TABLE triggers ADD COLUMN mail TEXT`
  yield* sql`ALTER TABLE triggers ADD COLUMN delivered_at TEXT`
  yield* sql`CREATE INDEX triggers_inbox ON triggers (agent, at) WHERE run IS NULL`
})
