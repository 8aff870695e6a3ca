/** Where a caller stands outside a run, and from where it has read backwards. Kept with its token. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE active_spaces (
    holder TEXT PRIMARY KEY,
    space TEXT NOT NULL REFERENCES spaces (id),
    entered_at TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE read_anchors (
    holder TEXT NOT NULL,
    space TEXT NOT NULL REFERENCES spaces (id),
    seq INTEGER NOT NULL,
    PRIMARY KEY (holder, space)
  )`
})
