/** Records that outlive conversations, every version of them, and with whom they are shared. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { flag } = yield* columnTypes
  yield* sql`CREATE TABLE memory_records (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES principals (id),
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    slot TEXT NOT NULL,
    content TEXT NOT NULL,
    media_type TEXT NOT NULL,
    tags TEXT NOT NULL,
    public ${flag} NOT NULL,
    pinned ${flag} NOT NULL,
    version INTEGER NOT NULL,
    principal TEXT NOT NULL,
    call TEXT,
    message TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    expires_at TEXT,
    deleted_at TEXT
  )`
  yield* sql`CREATE UNIQUE INDEX memory_records_slot ON memory_records (owner, namespace, slot) WHERE deleted_at IS NULL`
  yield* sql`CREATE INDEX memory_records_owner ON memory_records (owner, updated_at, id)`
  yield* sql`CREATE INDEX memory_records_made ON memory_records (owner, namespace, kind, created_at, id)`
  yield* sql`CREATE INDEX memory_records_public ON memory_records (updated_at, id) WHERE public`
  yield* sql`CREATE INDEX memory_records_expiry ON memory_records (expires_at) WHERE expires_at IS NOT NULL`
  yield* sql`CREATE TABLE memory_tags (
    record TEXT NOT NULL REFERENCES memory_records (id),
    tag TEXT NOT NULL,
    PRIMARY KEY (tag, record)
  )`
  yield* sql`CREATE INDEX memory_tags_record ON memory_tags (record)`
  yield* sql`CREATE TABLE memory_versions (
    record TEXT NOT NULL REFERENCES memory_records (id),
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    media_type TEXT NOT NULL,
    tags TEXT NOT NULL,
    public ${flag} NOT NULL,
    pinned ${flag} NOT NULL,
    expires_at TEXT,
    principal TEXT NOT NULL,
    call TEXT,
    message TEXT,
    at TEXT NOT NULL,
    PRIMARY KEY (record, version)
  )`
  yield* sql`CREATE TABLE memory_shares (
    record TEXT NOT NULL REFERENCES memory_records (id),
    principal TEXT NOT NULL REFERENCES principals (id),
    access TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (record, principal)
  )`
  yield* sql`CREATE INDEX memory_shares_principal ON memory_shares (principal)`
})
