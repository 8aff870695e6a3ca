/** The journal, its readers, timers, files and the answers stored for idempotency keys. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint, bytes, counter } = yield* columnTypes
  yield* sql`CREATE TABLE journal (
    cursor ${counter},
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    space TEXT,
    actor TEXT,
    provenance TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    body TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX journal_kind_at ON journal (kind, at)`
  yield* sql`CREATE INDEX journal_space ON journal (space, cursor)`
  // The highest cursor that retention has removed: a reader whose cursor is lower must reload.
  yield* sql`CREATE TABLE journal_floor (one INTEGER PRIMARY KEY CHECK (one = 1), cursor ${bigint} NOT NULL)`
  yield* sql`INSERT INTO journal_floor (one, cursor) VALUES (1, 0)`
  yield* sql`CREATE TABLE readers (
    name TEXT PRIMARY KEY,
    cursor ${bigint} NOT NULL,
    lease_owner TEXT,
    lease_until TEXT,
    failure TEXT,
    moved_at TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE timers (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    key TEXT UNIQUE,
    due_at TEXT NOT NULL,
    payload TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    lease_owner TEXT,
    lease_until TEXT
  )`
  yield* sql`CREATE INDEX timers_due ON timers (due_at)`
  yield* sql`CREATE TABLE files (
    id TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    bytes ${bytes} NOT NULL,
    created_at TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE answers (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    answer ${bytes},
    created_at TEXT NOT NULL,
    PRIMARY KEY (principal, key)
  )`
  yield* sql`CREATE INDEX answers_created ON answers (created_at)`
})
