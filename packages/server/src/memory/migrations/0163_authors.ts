/**
 * Who wrote the words of each version, which is not always who made it: a change of a pin, and a version brought back,
 * leave the words another's. Known so far: a text is by whoever wrote it first.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["memory_records", "memory_versions"])
    yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN authors TEXT NOT NULL DEFAULT '{}'`
  const first = (column: "content" | "tags") =>
    sql`'["' || (SELECT was.principal FROM memory_versions was WHERE was.record = memory_versions.record
      AND was.${sql(column)} = memory_versions.${sql(column)}
      AND COALESCE(was.digest, '') = COALESCE(memory_versions.digest, '') ORDER BY was.version LIMIT 1) || '"]'`
  // Versions of one author alone need no look at the others.
  yield* sql`UPDATE memory_versions SET authors = '{"content":' || ${first("content")} || ',"tags":' || ${first("tags")} || '}'
    WHERE EXISTS (SELECT 1 FROM memory_versions other
      WHERE other.record = memory_versions.record AND other.principal <> memory_versions.principal)`
  yield* sql`UPDATE memory_records SET authors = COALESCE((SELECT v.authors FROM memory_versions v
    WHERE v.record = memory_records.id AND v.version = memory_records.version), '{}')`
})
