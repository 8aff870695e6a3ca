/** MCP servers, and the definitions of their tools as they were first seen or accepted. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes } = yield* columnTypes
  yield* sql`CREATE TABLE mcp_servers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    transport TEXT NOT NULL,
    spec ${bytes} NOT NULL,
    source TEXT NOT NULL,
    owner TEXT REFERENCES principals (id),
    request_key TEXT UNIQUE,
    request_digest TEXT,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE mcp_tools (
    server TEXT NOT NULL REFERENCES mcp_servers (id),
    tool TEXT NOT NULL,
    state TEXT NOT NULL,
    definition TEXT NOT NULL,
    digest TEXT NOT NULL,
    held_definition TEXT,
    held_digest TEXT,
    first_seen_at TEXT NOT NULL,
    PRIMARY KEY (server, tool)
  )`
})
