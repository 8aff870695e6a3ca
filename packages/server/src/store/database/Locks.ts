/**
 * A lock on a name or a row until the end of the transaction, so that two transactions take the same one after the other.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** A row likewise, by the last words of a SELECT that reads it: whoever changes it meanwhile waits. */
export const lockRead = (sql: SqlClient.SqlClient, table: string) =>
  sql.onDialectOrElse({
    pg: () => sql`FOR NO KEY UPDATE OF ${sql(table)}`,
    orElse: () => sql``,
  })

/** SQLite has one writer, which is lock enough. */
export const lockName = (
  sql: SqlClient.SqlClient,
  kind: string,
  name: string,
): Effect.Effect<void, SqlError.SqlError> =>
  sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(hashtext(${kind}), hashtext(${name}))`),
    orElse: () => Effect.void,
  })
