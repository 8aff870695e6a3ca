/** The demo of the house, everything it made, and the first steps that somebody has taken. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // One row at most: that a demo was made, and what became of it.
  yield* sql`CREATE TABLE demos (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    space TEXT NOT NULL,
    model TEXT NOT NULL,
    budget_micros BIGINT NOT NULL,
    made_at TEXT NOT NULL,
    removed_at TEXT
  )`
  // done is 0 while a part is yet to be made, or to be taken away.
  yield* sql`CREATE TABLE demo_parts (
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    name TEXT NOT NULL,
    done INTEGER NOT NULL,
    PRIMARY KEY (kind, ref)
  )`
  yield* sql`CREATE TABLE first_steps (step TEXT PRIMARY KEY, at TEXT NOT NULL)`
})
