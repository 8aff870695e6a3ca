/** Locks on names and rows until the end of the transaction, so that two transactions take turns. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** The end of a SELECT that locks the rows it reads: other writers of the row wait. */
export const lockRead = (sql: SqlClient.SqlClient, table: string) =>
  sql.onDialectOrElse({
    pg: () => sql`FOR NO KEY UPDATE OF ${sql(table)}`,
    orElse: () => sql``,
  })

/** The same for rows that must only not disappear: others may change them, and who wants to delete one waits. */
export const holdRead = (sql: SqlClient.SqlClient, table: string) =>
  sql.onDialectOrElse({
    pg: () => sql`FOR KEY SHARE OF ${sql(table)}`,
    orElse: () => sql``,
  })

/** SQLite has only one writer, so it needs no lock. */
export const lockName = (
  sql: SqlClient.SqlClient,
  kind: string,
  name: string,
): Effect.Effect<void, SqlError.SqlError> =>
  sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(hashtext(${kind}), hashtext(${name}))`),
    orElse: () => Effect.void,
  })

/** Several names of a kind, sorted: of two transactions that lock some of the same, neither waits for the other twice. */
export const lockNames = (
  sql: SqlClient.SqlClient,
  kind: string,
  names: ReadonlyArray<string>,
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach([...new Set(names)].toSorted(), (name) => lockName(sql, kind, name), { discard: true })
