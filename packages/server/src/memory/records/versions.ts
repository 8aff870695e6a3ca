/**
 * The versions of records. A text is stored once: the newest in the record, earlier ones in `memory_texts` under their
 * digest, and those from before there were digests in their version.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { RecordRow } from "./rows.ts"
import { bytesOf, presentWeight, textDigest, versionWeight } from "./weight.ts"

export const makeVersions = (sql: SqlClient.SqlClient) => {
  /** Versions `v` of records `r`, with their texts. */
  const columns = sql`v.record, v.version, COALESCE(t.content, CASE WHEN v.digest IS NULL THEN v.content ELSE r.content END)
    AS content, v.media_type, v.tags, v.public, v.pinned, v.expires_at, v.principal, v.authors, v.call, v.message, v.at`
  const tables = sql`memory_versions v JOIN memory_records r ON r.id = v.record
    LEFT JOIN memory_texts t ON t.record = v.record AND t.digest = v.digest`

  /** All that is stored of a record which was not counted when it was written. */
  const weightOf = Effect.fnUntraced(function* (row: RecordRow, readers: number) {
    const rows = yield* sql<{ versions: number | string; texts: number | string }>`SELECT
      (SELECT COALESCE(sum(octet_length(content) + octet_length(tags)), 0) + count(*) * ${versionWeight({ tags: "" })}
        FROM memory_versions WHERE record = ${row.id}) AS versions,
      (SELECT COALESCE(sum(bytes), 0) FROM memory_texts WHERE record = ${row.id}) AS texts`
    return presentWeight(row, readers) + Number(rows[0]!.versions) + Number(rows[0]!.texts)
  })

  /** Before a record gets another text: keeps the present one for its versions. Returns how much more history has. */
  const keepText = Effect.fnUntraced(function* ({ content, id, version }: RecordRow, next: string) {
    const rows = yield* sql<{ digest: string | null }>`SELECT digest FROM memory_versions
      WHERE record = ${id} AND version = ${version}`
    const digest = rows[0]?.digest ?? null
    const bytes = bytesOf(content)
    // One of a version from before digests is there already.
    if (digest !== null)
      yield* sql`INSERT INTO memory_texts ${sql.insert({ record: id, digest, content, bytes })}
        ON CONFLICT (record, digest) DO NOTHING`
    const now = yield* sql<{ bytes: number | string }>`DELETE FROM memory_texts
      WHERE record = ${id} AND digest = ${textDigest(next)} RETURNING bytes`
    return (digest === null ? 0 : bytes) - Number(now[0]?.bytes ?? 0)
  })

  /** Removes earlier versions, and the texts that no version has any more. Returns how much that was. */
  const removeVersions = Effect.fnUntraced(function* (record: string, versions: ReadonlyArray<number>) {
    const gone = yield* sql<{ content: string; tags: string }>`DELETE FROM memory_versions
      WHERE record = ${record} AND ${sql.in("version", versions)} RETURNING content, tags`
    const texts = yield* sql<{
      bytes: number | string
    }>`DELETE FROM memory_texts WHERE record = ${record} AND NOT EXISTS
      (SELECT 1 FROM memory_versions v WHERE v.record = memory_texts.record AND v.digest = memory_texts.digest)
      RETURNING bytes`
    return (
      gone.reduce((sum, row) => sum + versionWeight(row) + bytesOf(row.content), 0) +
      texts.reduce((sum, { bytes }) => sum + Number(bytes), 0)
    )
  })

  return { columns, tables, weightOf, keepText, removeVersions }
}
