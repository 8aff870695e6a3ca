/**
 * The beginnings of records for a prompt. How many, and how much of each, is decided by the database, so that what others
 * or the agent have piled up costs a prompt nothing.
 */
import type { MemoryRecord } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type RecordRow, recordFrom } from "./rows.ts"

export interface ExcerptBounds {
  /** The most records. */
  readonly rows: number
  /** The most characters of all of them, and of one. */
  readonly letters: number
  readonly each: number
  /** Whether a longer one is left out instead of cut. */
  readonly whole?: true
}

export interface Excerpts {
  /** `left`: how many bytes of its content were not read. */
  readonly items: ReadonlyArray<{ readonly record: MemoryRecord; readonly left: number }>
  /** How many more records there are; counted up to a thousand. */
  readonly left: number
}

interface Row extends RecordRow {
  readonly size: number
}

const maxCounted = 1000
/** Longer tags are not shown. */
const longestTags = 2048

export const makeExcerpts = (sql: SqlClient.SqlClient) => {
  /** `from`: tables, of which `r` is that of records, and conditions; `order`: which come first. */
  const read = Effect.fnUntraced(function* (
    from: Statement.Fragment,
    order: Statement.Fragment,
    bounds: ExcerptBounds,
  ) {
    // Written out: Postgres does not know the type of a parameter that is compared with another.
    const number = (one: number) => sql.literal(String(Math.floor(one)))
    const [each, letters, most] = [number(bounds.each), number(bounds.letters), number(bounds.rows)]
    const at = DateTime.formatIso(yield* DateTime.now)
    const there = sql`${from} AND r.deleted_at IS NULL AND (r.expires_at IS NULL OR r.pinned = ${true} OR r.expires_at > ${at})`
    const fits = bounds.whole === true ? sql`AND octet_length(r.content) <= ${each}` : sql``
    const rows = yield* sql<Row>`SELECT r.id, r.owner, r.namespace, r.kind, r.key, r.slot,
        substr(r.content, 1, ${each}) AS content, r.media_type,
        CASE WHEN octet_length(r.tags) > ${longestTags} THEN '[]' ELSE r.tags END AS tags, r.public, r.pinned, r.version,
        r.principal, r.authors, r.call, r.message, r.created_at, r.updated_at, r.expires_at, r.deleted_at, chosen.size
      FROM (SELECT id, size, place, sum(CASE WHEN size > ${each} THEN ${each} ELSE size END) OVER (ORDER BY place) AS read_so_far
        FROM (SELECT r.id, octet_length(r.content) AS size, row_number() OVER (ORDER BY ${order}) AS place
          FROM ${there} ${fits} ORDER BY ${order} LIMIT ${most}) AS ordered) AS chosen
      JOIN memory_records r ON r.id = chosen.id
      WHERE chosen.place = 1 OR chosen.read_so_far <= ${letters} ORDER BY chosen.place`
    const counted = yield* sql<{
      n: number
    }>`SELECT count(*) AS n FROM (SELECT 1 AS one FROM ${there} LIMIT ${maxCounted}) AS counted`
    const items = rows.map(({ size, ...row }) => ({
      record: recordFrom(row),
      left: Math.max(0, size - Buffer.byteLength(row.content)),
    }))
    return { items, left: Math.max(0, counted[0]!.n - items.length) } satisfies Excerpts
  }, Effect.orDie)

  return { read }
}
