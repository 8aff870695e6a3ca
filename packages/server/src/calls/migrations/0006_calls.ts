/** One row a call, unique by its id and by its caller's key; and the tools that were configured. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint } = yield* columnTypes
  yield* sql`CREATE TABLE tools (
    name TEXT PRIMARY KEY,
    form TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL REFERENCES principals (id),
    context TEXT NOT NULL,
    idempotency_key TEXT,
    tool TEXT NOT NULL,
    input TEXT NOT NULL,
    digest TEXT NOT NULL,
    fingerprint TEXT,
    state TEXT NOT NULL,
    on_kind TEXT,
    on_id TEXT,
    space TEXT,
    visibility TEXT NOT NULL,
    custom_ui TEXT,
    message TEXT,
    output TEXT,
    output_file TEXT,
    output_size ${bigint},
    meta TEXT,
    error TEXT,
    rule TEXT,
    correlation_id TEXT NOT NULL,
    owner TEXT,
    created_at TEXT NOT NULL,
    settled_at TEXT
  )`
  yield* sql`CREATE INDEX calls_principal ON calls (principal, id)`
  yield* sql`CREATE UNIQUE INDEX calls_key ON calls (principal, idempotency_key) WHERE idempotency_key IS NOT NULL`
  yield* sql`CREATE INDEX calls_unsettled ON calls (state) WHERE state IN ('received', 'waiting', 'running')`
  yield* sql`CREATE INDEX calls_on ON calls (on_id) WHERE on_id IS NOT NULL`
  yield* sql`CREATE INDEX calls_output_file ON calls (output_file) WHERE output_file IS NOT NULL`
  yield* sql`CREATE INDEX calls_made_file ON calls (meta) WHERE meta LIKE '{"file":%'`
})
