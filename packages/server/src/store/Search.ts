/** Full-text search by words, the same on both databases: FTS5 on SQLite, a text search index on Postgres. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** Accents and case are folded here, so that both databases find the same things. */
const fold = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()

/** What a person types is words: everything that could be search syntax is dropped. */
const words = (query: string): ReadonlyArray<string> => fold(query).match(/[\p{L}\p{N}]+/gu) ?? []

type Sql<A> = Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>

/** Makes the index of a noun, `<noun>_words`. To be called from a migration. */
export const createSearch = (noun: string): Sql<void> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.onDialectOrElse({
      pg: () =>
        Effect.asVoid(
          Effect.andThen(
            // The words are kept as they are: a backup carries them into either database.
            sql`CREATE TABLE ${sql(`${noun}_words`)} (id TEXT PRIMARY KEY, words TEXT NOT NULL,
              vector TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED)`,
            sql`CREATE INDEX ${sql(`${noun}_words_index`)} ON ${sql(`${noun}_words`)} USING GIN (vector)`,
          ),
        ),
      orElse: () =>
        Effect.asVoid(
          sql`CREATE VIRTUAL TABLE ${sql(`${noun}_words`)} USING fts5(id UNINDEXED, words, tokenize = 'unicode61')`,
        ),
    }),
  )

/** Puts a text in the index, or in the place of an older one. A new one has none: to look for it, FTS5 reads the whole index. */
export const indexText = (noun: string, id: string, text: string, isNew = false): Sql<void> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const table = sql(`${noun}_words`)
    // Split here: what Postgres takes for one word (an address, a file name) is several for SQLite.
    const found = words(text).join(" ")
    return sql.onDialectOrElse({
      pg: () =>
        Effect.asVoid(sql`INSERT INTO ${table} (id, words) VALUES (${id}, ${found})
          ON CONFLICT (id) DO UPDATE SET words = excluded.words`),
      orElse: () =>
        Effect.asVoid(
          Effect.andThen(
            isNew ? Effect.void : Effect.asVoid(sql`DELETE FROM ${table} WHERE id = ${id}`),
            sql`INSERT INTO ${table} (id, words) VALUES (${id}, ${found})`,
          ),
        ),
    })
  })

/** The ids whose text has every word, best first. */
export const findText = (noun: string, query: string, limit: number): Sql<ReadonlyArray<string>> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const wanted = words(query)
    if (wanted.length === 0) return Effect.succeed([])
    const table = sql(`${noun}_words`)
    const rows = sql.onDialectOrElse({
      pg: () => {
        const asked = wanted.join(" & ")
        return sql<{ id: string }>`SELECT id FROM ${table} WHERE vector @@ to_tsquery('simple', ${asked})
          ORDER BY ts_rank(vector, to_tsquery('simple', ${asked})) DESC, id LIMIT ${limit}`
      },
      orElse: () =>
        sql<{ id: string }>`SELECT id FROM ${table} WHERE ${table} MATCH ${wanted.map((word) => `"${word}"`).join(" ")}
          ORDER BY rank, id LIMIT ${limit}`,
    })
    return Effect.map(rows, (found) => found.map((row) => row.id))
  })
