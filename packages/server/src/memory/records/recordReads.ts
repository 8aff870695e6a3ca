/** Which records a caller sees: by filters, by a text they contain, or by a question in plain words. */
import type {
  BadInput,
  MemoryNamespace,
  MemoryOrigin,
  MemoryRecord,
  PageQuery,
  Principal,
  PrincipalId,
} from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { amongTexts } from "../../store/database/dialect/Columns.ts"
import { decodeCursor, encodeCursor, fitting, largestPage } from "../../store/Pages.ts"
import { yieldToEventLoop } from "../../store/fibers/EventLoop.ts"
import { digestOf, cursorAt, placeOfCursor } from "../../store/search/Cursor.ts"
import { matchesOf } from "../../store/search/Match.ts"
import type { SearchAnswer, SearchIndex } from "../../store/search/SearchIndex.ts"
import { publicScope, scopeOf } from "./indexing.ts"
import type { Meanings } from "../meaning/Meanings.ts"
import { type RecordRow, recordFrom } from "./rows.ts"
import type { WritingRoom } from "./rules.ts"

/** Who acts, and in which call or message. */
export type MemoryActor = Pick<Principal, "id"> &
  Partial<Omit<MemoryOrigin, "principal">> & {
    /** Who acts on behalf of this principal, with its rights; stored as the author. */
    readonly acting?: PrincipalId
    /** The room of the house that acts, where it changes the records that it alone writes. Only that room says so. */
    readonly room?: WritingRoom
  }

export interface MemoryQuery extends PageQuery {
  readonly q?: string
  readonly namespace?: MemoryNamespace
  readonly kind?: string
  readonly key?: string
  /** Any of these. */
  readonly keys?: ReadonlyArray<string>
  readonly tag?: string
  readonly owner?: PrincipalId
  readonly deleted?: boolean
}

const dieOfSql = <A, R>(asked: Effect.Effect<A, BadInput | SqlError.SqlError, R>): Effect.Effect<A, BadInput, R> =>
  Effect.catchTag(asked, "SqlError", Effect.die)

const newestFirst = (one: RecordRow, other: RecordRow): number =>
  one.updatedAt === other.updatedAt ? (one.id < other.id ? 1 : -1) : one.updatedAt < other.updatedAt ? 1 : -1

const folded = (value: string): string => value.normalize("NFKC").toLowerCase()
/** The most results of a substring search, and the most rows and characters it reads. */
const maxContaining = 50
const maxLooked = 100_000
const maxLetters = 32 * 1024 * 1024
/** Hits whose records one statement reads. */
const hitsAtOnce = 10
/** How much is read before others get their turn: many short rows, or a few long ones. */
const lettersAtOnce = 1024 * 1024
const rowsAtOnce = { first: 10, least: 4, most: 500 }

const lettersOf = (rows: ReadonlyArray<RecordRow>): number => rows.reduce((sum, { content }) => sum + content.length, 0)
const rowsNext = (rows: number, letters: number): number => {
  const fitting = Math.floor((lettersAtOnce * rows) / Math.max(1, letters))
  return Math.min(rowsAtOnce.most, Math.max(rowsAtOnce.least, fitting))
}

export const makeRecordReads = (
  sql: SqlClient.SqlClient,
  index: SearchIndex["Service"],
  meanings: Meanings["Service"],
) => {
  const now = Effect.map(DateTime.now, DateTime.formatIso)

  const visible = Effect.fnUntraced(function* (
    by: MemoryActor,
    query: MemoryQuery,
    whose: "any" | "own" | "lent" = "any",
  ) {
    const own = sql`owner = ${by.id}`
    const lent = sql`id IN (SELECT record FROM memory_shares WHERE principal = ${by.id} AND state = 'taken')`
    const where = [
      query.owner === undefined
        ? whose === "any"
          ? sql.or([own, lent])
          : whose === "own"
            ? own
            : lent
        : query.owner === by.id
          ? own
          : sql.and([sql`owner = ${query.owner}`, sql.or([sql`public = ${true}`, lent])]),
      query.deleted === true ? sql.and([sql`deleted_at IS NOT NULL`, own]) : sql`deleted_at IS NULL`,
      sql`(expires_at IS NULL OR pinned = ${true} OR expires_at > ${yield* now})`,
    ]
    if (query.namespace !== undefined) where.push(sql`namespace = ${query.namespace}`)
    if (query.kind !== undefined) where.push(sql`kind = ${query.kind}`)
    if (query.key !== undefined) where.push(sql`key = ${query.key}`)
    if (query.keys !== undefined) where.push(amongTexts(sql, "key", query.keys))
    if (query.tag !== undefined) where.push(sql`id IN (SELECT record FROM memory_tags WHERE tag = ${query.tag})`)
    return where
  })

  const filtersOf = (query: MemoryQuery): ReadonlyArray<string> =>
    (["namespace", "kind", "tag", "key", "owner"] as const).flatMap((name) =>
      query[name] === undefined ? [] : [`${name}:${query[name]}`],
    )

  /** Those of the found records that the caller may see, and why they match. Rights are checked again on the rows. */
  const among = Effect.fnUntraced(function* (
    by: MemoryActor,
    answered: SearchAnswer,
    ids: ReadonlyArray<string>,
    query: MemoryQuery = {},
  ) {
    const found = new Map<string, MemoryRecord>()
    if (ids.length === 0) return found
    const rows = yield* sql<RecordRow>`SELECT * FROM memory_records
      WHERE ${sql.in("id", ids)} AND ${sql.and(yield* visible(by, query))}`
    const matches = yield* matchesOf(
      answered,
      rows.map(({ content, id }) => ({ id, text: content })),
    )
    for (const row of rows) {
      const match = matches.get(row.id)
      if (match !== undefined) found.set(row.id, recordFrom(row, match))
    }
    return found
  })

  const search = Effect.fnUntraced(function* (by: MemoryActor, query: MemoryQuery & { readonly q: string }) {
    const { cursor, limit = 50, q } = query
    // Deleted records are not in the index.
    if (query.deleted === true) return { items: [], next: null }
    const scopes = query.owner === undefined || query.owner === by.id ? [scopeOf(by.id)] : [scopeOf(by.id), publicScope]
    const filters = filtersOf(query)
    const digest = digestOf(q, ...filters)
    let at = yield* placeOfCursor(cursor, digest)
    const answered = yield* index.find(scopes, q, filters, { meaning: yield* meanings.of(q), by: by.id })
    const hits = answered.found
    const items: Array<MemoryRecord> = []
    // A few at a time: one record may be as long as a page.
    for (let size = 0; at < hits.length && items.length < limit && size < largestPage;) {
      const some = hits.slice(at, at + Math.min(hitsAtOnce, limit - items.length)).map(({ ref }) => ref)
      at += some.length
      const found = yield* among(by, answered, some, query)
      for (const record of some.flatMap((id) => found.get(id) ?? [])) {
        items.push(record)
        size += record.content.length
      }
    }
    return { items, next: at < hits.length ? cursorAt(digest, at) : null }
  })

  const list = Effect.fn("Memories.list")(function* (by: MemoryActor, query: MemoryQuery) {
    const { cursor, limit = 50, q } = query
    if (q !== undefined && q.trim() !== "") return yield* search(by, { ...query, q })
    const [at = "", id = ""] = cursor === undefined ? [] : decodeCursor(cursor).split(" ")
    /** Own and shared records are queried separately: each is then read in the order of an index, however many there are. */
    const newest = Effect.fnUntraced(function* (after: Pick<RecordRow, "updatedAt" | "id"> | undefined, most: number) {
      const rows: Array<RecordRow> = []
      for (const whose of query.owner === undefined ? (["own", "lent"] as const) : (["any"] as const)) {
        const where = yield* visible(by, query, whose)
        if (after !== undefined)
          where.push(sql`(updated_at < ${after.updatedAt} OR (updated_at = ${after.updatedAt} AND id < ${after.id}))`)
        rows.push(
          ...(yield* sql<RecordRow>`SELECT * FROM memory_records WHERE ${sql.and(where)}
            ORDER BY updated_at DESC, id DESC LIMIT ${most}`),
        )
      }
      return rows.toSorted(newestFirst).slice(0, most)
    })
    // Few at first: one record may be as long as a page.
    const rows: Array<RecordRow> = []
    let size: number = rowsAtOnce.first
    let letters = 0
    while (rows.length <= limit && letters <= largestPage) {
      const most = Math.min(size, limit + 1 - rows.length)
      const some = yield* newest(
        rows.at(-1) ?? (cursor === undefined ? undefined : ({ updatedAt: at, id } as RecordRow)),
        most,
      )
      rows.push(...some)
      if (some.length < most) break
      letters += lettersOf(some)
      size = rowsNext(rows.length, letters)
    }
    const items = fitting(rows, limit)
    const last = items.at(-1)
    return {
      items: items.map((row) => recordFrom(row)),
      next: rows.length > items.length && last !== undefined ? encodeCursor(`${last.updatedAt} ${last.id}`) : null,
    }
  }, dieOfSql)

  // Compared here and not by LIKE: the databases fold non-ASCII letters differently, and `%` must not be a wildcard.
  const containing = Effect.fn("Memories.containing")(function* (
    by: MemoryActor,
    { kind, namespace, text }: { readonly namespace: MemoryNamespace; readonly kind: string; readonly text: string },
  ) {
    const wanted = folded(text)
    const where = yield* visible(by, { namespace, kind, owner: by.id })
    const items: Array<MemoryRecord> = []
    let last: RecordRow | undefined
    let size: number = rowsAtOnce.first
    let [looked, letters] = [0, 0]
    while (looked < maxLooked && letters < maxLetters && items.length < maxContaining) {
      const after =
        last === undefined
          ? sql``
          : sql`AND (created_at < ${last.createdAt} OR (created_at = ${last.createdAt} AND id < ${last.id}))`
      const rows = yield* sql<RecordRow>`SELECT * FROM memory_records WHERE ${sql.and(where)} ${after}
        ORDER BY created_at DESC, id DESC LIMIT ${size}`
      for (const row of rows)
        if (items.length < maxContaining && folded(row.content).includes(wanted)) items.push(recordFrom(row))
      if (rows.length < size) break
      last = rows.at(-1)
      const read = lettersOf(rows)
      looked += rows.length
      letters += read
      size = rowsNext(rows.length, read)
      yield* yieldToEventLoop
    }
    return items
  }, Effect.orDie)

  return { containing, list, among: (...args: Parameters<typeof among>) => Effect.orDie(among(...args)) }
}
