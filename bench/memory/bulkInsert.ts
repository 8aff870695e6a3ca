/**
 * Many records at once, for the bench: the rows that writing them one by one would leave, made here and put in by a few
 * large statements. A million of them take minutes instead of an hour; the tests compare both ways (`memoryBulkInsert.test.ts` of the server).
 */
import { type MemoryRecord, type PrincipalId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { indexRecord } from "../../packages/server/src/memory/records/indexing.ts"
import { type RecordRow, recordFrom } from "../../packages/server/src/memory/records/rows.ts"
import { slotOf } from "../../packages/server/src/memory/records/rules.ts"
import { newId } from "../../packages/server/src/store/journal/Correlation.ts"
import { Transaction } from "../../packages/server/src/store/journal/Journal.ts"
import { type Entry, partsOf, scopeToken } from "../../packages/server/src/store/search/index/entries.ts"
import type { SearchIndex } from "../../packages/server/src/store/search/SearchIndex.ts"

export interface RecordSource {
  readonly owner: PrincipalId
  readonly key: string
  readonly content: string
}

const rowsAtOnce = 2000

type Row = Readonly<Record<string, string | number | boolean | null>>

/** One statement a batch: the rows go as one text of JSON. */
const insertAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: string, rows: ReadonlyArray<Row>) {
  if (rows.length === 0) return
  const columns = Object.keys(rows[0]!)
  const names = columns.map((name) => `"${name}"`).join(", ")
  yield* sql.onDialectOrElse({
    pg: () =>
      sql`INSERT INTO ${sql(table)} (${sql.literal(names)}) SELECT ${sql.literal(names)}
        FROM json_populate_recordset(NULL::${sql(table)}, ${JSON.stringify(rows)}::json)`,
    orElse: () =>
      sql`INSERT INTO ${sql(table)} (${sql.literal(names)})
        SELECT ${sql.literal(columns.map((name) => `value ->> '${name}'`).join(", "))} FROM json_each(${JSON.stringify(rows)})`,
  })
})

interface Scope {
  readonly id: number
  entries: number
  len: number
  readonly terms: Map<string, number>
  readonly places: Map<string, number>
}

/** Into an empty memory. `author`: as the one who writes is called. */
export const insertRecords = Effect.fnUntraced(function* (
  count: number,
  of: (n: number) => RecordSource,
  author: string,
) {
  const sql = yield* SqlClient.SqlClient
  const at = DateTime.toEpochMillis(yield* DateTime.now) - count
  const known = yield* sql<{ id: number; name: string }>`SELECT id, name FROM search_scopes`
  let lastScope = Math.max(0, ...known.map(({ id }) => id))
  const scopes = new Map<string, Scope>()
  const scopeNamed = (name: string): Scope => {
    let scope = scopes.get(name)
    if (scope === undefined) {
      scope = { id: ++lastScope, entries: 0, len: 0, terms: new Map(), places: new Map() }
      scopes.set(name, scope)
    }
    return scope
  }
  const entriesOf = Effect.fnUntraced(function* (record: MemoryRecord) {
    const entries: Array<Entry> = []
    const put = (entry: Entry) => Effect.sync(() => void entries.push(entry))
    // Asked what it would put in; nothing is written by it.
    const index = { put, remove: () => Effect.void } as unknown as SearchIndex["Service"]
    yield* Effect.provideService(
      indexRecord(index, record, { author, readers: [] }, true),
      Transaction,
      undefined as never,
    )
    return entries
  })
  const indexRows = (entry: Entry): ReadonlyArray<Row> => {
    const scope = scopeNamed(entry.scope)
    const parts = partsOf(entry)
    return parts.map(({ labels, terms, tokens }, part) => {
      scope.entries++
      scope.len += terms.length
      for (const term of new Set([...terms, ...labels])) scope.terms.set(term, (scope.terms.get(term) ?? 0) + 1)
      const series = parts.length === 1 ? entry.series : entry.ref
      const place = series === null ? 0 : (scope.places.get(series) ?? 0)
      if (series !== null) scope.places.set(series, place + 1)
      return {
        scope: scope.id,
        ref: entry.ref,
        part,
        series,
        place,
        tail: parts.length === 1 && entry.series !== null ? (entry.order ?? null) : null,
        len: terms.length,
        labels: labels.join(" "),
        terms: terms.join(" "),
        tokens: `${tokens.join(" ")} ${scopeToken(scope.id)}`,
      }
    })
  }
  for (let from = 0; from < count; from += rowsAtOnce) {
    const records: Array<Row> = []
    const versions: Array<Row> = []
    const index: Array<Row> = []
    for (let n = from; n < Math.min(count, from + rowsAtOnce); n++) {
      const { content, key, owner } = of(n)
      const moment = DateTime.formatIso(DateTime.makeUnsafe(at + n))
      const shared = {
        content,
        mediaType: "text/plain",
        tags: "[]",
        public: false,
        pinned: false,
        version: 1,
        principal: owner,
        call: null,
        message: null,
        expiresAt: null,
        authors: "{}",
      }
      const row: RecordRow = {
        ...shared,
        id: newId("mem"),
        owner,
        namespace: "stoa",
        kind: "turn",
        key,
        slot: slotOf("stoa", "turn", key),
        createdAt: moment,
        updatedAt: moment,
        deletedAt: null,
        bytes: null,
      }
      records.push(snake(row))
      versions.push(snake({ ...shared, record: row.id, at: moment }))
      for (const entry of yield* entriesOf(recordFrom(row))) index.push(...indexRows(entry))
    }
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* insertAll(sql, "memory_records", records)
        yield* insertAll(sql, "memory_versions", versions)
        yield* insertAll(sql, "search_index", index)
      }),
    )
  }
  for (const [name, { entries, id, len }] of scopes)
    yield* sql`INSERT INTO search_scopes ${sql.insert({ id, name, entries, len })}`
  const terms = [...scopes.values()].flatMap(({ id, terms: own }) =>
    [...own].map(([term, n]) => ({ scope: id, term, n })),
  )
  for (let from = 0; from < terms.length; from += rowsAtOnce * 5)
    yield* insertAll(sql, "search_terms", terms.slice(from, from + rowsAtOnce * 5))
  yield* sql.onDialectOrElse({
    // A counter that was given its numbers by hand begins behind them.
    pg: () =>
      Effect.andThen(
        sql`SELECT setval(pg_get_serial_sequence('search_scopes', 'id'), (SELECT max(id) FROM search_scopes))`,
        // A house that has run for a while has been looked over by Postgres; so is this one.
        sql`ANALYZE`,
      ),
    orElse: () => Effect.void,
  })
})

const snake = (row: object): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as string | number | boolean | null,
    ]),
  )
