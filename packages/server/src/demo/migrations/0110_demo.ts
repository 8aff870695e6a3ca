/** The demo of the house, everything it made, and the first steps that were taken. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // At most one row: that a demo was made, and its state.
  yield* sql`CREATE TABLE demos (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    space TEXT NOT NULL,
    model TEXT NOT NULL,
    budget_micros BIGINT NOT NULL,
    made_at TEXT NOT NULL,
    removed_at TEXT
  )`
  // `done` is 0 until a part is made.
  yield* sql`CREATE TABLE demo_parts (
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    name TEXT NOT NULL,
    done INTEGER NOT NULL,
    PRIMARY KEY (kind, ref)
  )`
  yield* sql`CREATE TABLE first_steps (step TEXT PRIMARY KEY, at TEXT NOT NULL)`
})
