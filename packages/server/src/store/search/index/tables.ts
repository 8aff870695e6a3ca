/** The tables of the search index, for a migration. What is stored is the same on both databases; only the index differs. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { columnTypes } from "../../database/dialect/Columns.ts"

export const createSearchIndex = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { counter } = yield* columnTypes
  const binary = sql.literal(sql.onDialectOrElse({ pg: () => 'COLLATE "C"', orElse: () => "" }))
  // What one search covers, with its own statistics: the records of one owner, the messages of one space.
  yield* sql`CREATE TABLE search_scopes (
    id ${counter},
    name TEXT NOT NULL UNIQUE,
    entries INTEGER NOT NULL,
    len INTEGER NOT NULL
  )`
  yield* sql`CREATE TABLE search_terms (
    scope INTEGER NOT NULL,
    term TEXT ${binary} NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (scope, term)
  )`
  // On Postgres no parser is needed: the tokens are terms already.
  const words = sql.onDialectOrElse({
    pg: () => sql`, words TSVECTOR GENERATED ALWAYS AS (array_to_tsvector(string_to_array(tokens, ' '))) STORED`,
    orElse: () => sql``,
  })
  yield* sql`CREATE TABLE search_index (
    seq ${counter},
    scope INTEGER NOT NULL,
    ref TEXT NOT NULL,
    part INTEGER NOT NULL,
    series TEXT,
    place INTEGER NOT NULL,
    len INTEGER NOT NULL,
    labels TEXT NOT NULL,
    terms TEXT NOT NULL,
    tokens TEXT NOT NULL
    ${words},
    UNIQUE (ref, scope, part)
  )`
  yield* sql`CREATE UNIQUE INDEX search_index_place ON search_index (scope, series, place) WHERE series IS NOT NULL`
  yield* sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`CREATE INDEX search_index_words ON search_index USING GIN (words)`),
    orElse: () => inSqlite(sql),
  })
})

/** Maintained by triggers, so that restored rows are found too. `ascii` takes our terms unchanged, in every script. */
const inSqlite = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`CREATE VIRTUAL TABLE search_words USING fts5(tokens, content='search_index', content_rowid='seq',
    detail=none, columnsize=0, tokenize="ascii tokenchars '_'")`
  yield* sql`CREATE TRIGGER search_index_added AFTER INSERT ON search_index BEGIN
    INSERT INTO search_words (rowid, tokens) VALUES (new.seq, new.tokens); END`
  yield* sql`CREATE TRIGGER search_index_removed AFTER DELETE ON search_index BEGIN
    INSERT INTO search_words (search_words, rowid, tokens) VALUES ('delete', old.seq, old.tokens); END`
  yield* sql`CREATE TRIGGER search_index_changed AFTER UPDATE OF tokens ON search_index BEGIN
    INSERT INTO search_words (search_words, rowid, tokens) VALUES ('delete', old.seq, old.tokens);
    INSERT INTO search_words (rowid, tokens) VALUES (new.seq, new.tokens); END`
})
