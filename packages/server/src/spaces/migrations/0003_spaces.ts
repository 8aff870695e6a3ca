/** Spaces, who is in them, what was said there, and how far everybody has read. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../store/database/dialect/Columns.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { flag } = yield* columnTypes
  yield* sql`CREATE TABLE spaces (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    pair TEXT UNIQUE,
    trigger_policy TEXT NOT NULL,
    topic TEXT,
    last_seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    archived_at TEXT
  )`
  yield* sql`CREATE TABLE members (
    space TEXT NOT NULL REFERENCES spaces (id),
    principal TEXT NOT NULL REFERENCES principals (id),
    role TEXT NOT NULL,
    read_seq INTEGER NOT NULL,
    joined_at TEXT NOT NULL,
    PRIMARY KEY (space, principal)
  )`
  yield* sql`CREATE INDEX members_principal ON members (principal)`
  yield* sql`CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    space TEXT NOT NULL REFERENCES spaces (id),
    seq INTEGER NOT NULL,
    author TEXT NOT NULL REFERENCES principals (id),
    text TEXT NOT NULL,
    call TEXT,
    reply_to TEXT,
    mentions TEXT NOT NULL,
    provenance TEXT NOT NULL,
    origin TEXT,
    pinned ${flag} NOT NULL,
    created_at TEXT NOT NULL,
    edited_at TEXT,
    deleted_at TEXT,
    UNIQUE (space, seq)
  )`
  yield* sql`CREATE INDEX messages_reply ON messages (reply_to)`
  yield* sql`CREATE TABLE message_edits (
    message TEXT NOT NULL REFERENCES messages (id),
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (message, place)
  )`
  yield* sql`CREATE TABLE reactions (
    message TEXT NOT NULL REFERENCES messages (id),
    emoji TEXT NOT NULL,
    principal TEXT NOT NULL REFERENCES principals (id),
    created_at TEXT NOT NULL,
    PRIMARY KEY (message, emoji, principal)
  )`
  // Every word had to be there; 0058 takes it away again.
  yield* sql.onDialectOrElse({
    pg: () =>
      Effect.andThen(
        sql`CREATE TABLE messages_words (id TEXT PRIMARY KEY, words TEXT NOT NULL,
          vector TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED)`,
        sql`CREATE INDEX messages_words_index ON messages_words USING GIN (vector)`,
      ),
    orElse: () => sql`CREATE VIRTUAL TABLE messages_words USING fts5(id UNINDEXED, words, tokenize = 'unicode61')`,
  })
})
