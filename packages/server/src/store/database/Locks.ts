/**
 * A lock on a name until the end of the transaction, so that two transactions take the same name one after the other.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

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
