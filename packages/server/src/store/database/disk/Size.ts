/** How large the database is, in bytes. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const databaseSize = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.onDialectOrElse({
    pg: () => sql<{ bytes: number }>`SELECT pg_database_size(current_database()) AS bytes`,
    orElse: () =>
      sql<{ bytes: number }>`SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`,
  })
  return rows[0]!.bytes
}).pipe(Effect.orDie)
