/**
 * How each name reads, so that no new one reads like it. Names that read alike already stay as they are: the column is
 * not unique.
 */
import { spellingOf } from "@stoa/tools"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["principals", "spaces"] as const) {
    yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN spelling TEXT`
    const rows = yield* sql<{ id: string; name: string }>`SELECT id, name FROM ${sql(table)}`
    for (const { id, name } of rows)
      yield* sql`UPDATE ${sql(table)} SET spelling = ${spellingOf(name)} WHERE id = ${id}`
    yield* sql`CREATE INDEX ${sql(`${table}_spelling`)} ON ${sql(table)} (spelling)`
  }
})
