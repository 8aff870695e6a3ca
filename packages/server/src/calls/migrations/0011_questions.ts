/** What a call was asked before it can go on, and what has been answered of it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { flag } = yield* columnTypes
  yield* sql`CREATE TABLE call_questions (
    call TEXT PRIMARY KEY REFERENCES calls (id),
    questions TEXT NOT NULL,
    answers TEXT NOT NULL,
    state TEXT NOT NULL,
    decision TEXT,
    client TEXT,
    holder TEXT,
    is_task ${flag} NOT NULL
  )`
})
