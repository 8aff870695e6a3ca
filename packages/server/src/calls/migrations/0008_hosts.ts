/** Processes that offer functions, the names they take, and which process was sent which call. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { flag } = yield* columnTypes
  yield* sql`CREATE TABLE hosts (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES principals (id),
    name TEXT NOT NULL,
    shared ${flag} NOT NULL,
    tools TEXT NOT NULL,
    instance TEXT,
    connected ${flag} NOT NULL,
    last_seen_at TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (owner, name)
  )`
  // The scope is empty for what everybody sees, and the owner's id for what only the owner does.
  yield* sql`CREATE TABLE hosted_tools (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT NOT NULL REFERENCES hosts (id),
    PRIMARY KEY (scope, name)
  )`
  yield* sql`CREATE TABLE hosted_calls (
    call TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    instance TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX hosted_calls_host ON hosted_calls (host)`
})
