/** The rows and statistics of the index, updated by every write in the same transaction as the text. */
import { Array as Arr, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Entry, partsOf, scopeToken } from "./entries.ts"
import { type Insertion, placeAmong, type SeriesRow } from "./seriesOrder.ts"

/** A late row is inserted in order only within this many rows of the end of its series. */
const nearEnd = 64
/** The most rows of one statement: databases limit the number of values. */
const atOnce = 2000
/** Lower than any place: rows that make room are moved here temporarily. */
const aside = -1_000_000_000

interface Stored {
  readonly seq: number
  readonly series: string | null
  readonly place: number
  readonly len: number
  readonly labels: string
  readonly terms: string
  readonly tokens: string
}

interface Row {
  readonly len: number
  readonly labels: string
  readonly terms: string
  readonly tokens: string
}

interface Put {
  readonly entry: Entry
  /** It had nothing in this scope. */
  readonly isNew: boolean
}
interface Remove {
  readonly ref: string
  readonly scope?: string | undefined
}
export type IndexChange = Put | Remove

type Changes = Map<string, number>

const termsIn = (row: { readonly labels: string; readonly terms: string }): ReadonlySet<string> =>
  new Set([...row.terms.split(" "), ...row.labels.split(" ")].filter((term) => term !== ""))

const count = (changes: Changes, terms: ReadonlySet<string>, by: number): void => {
  for (const term of terms) changes.set(term, (changes.get(term) ?? 0) + by)
}

const total = (lengths: ReadonlyArray<number>): number => lengths.reduce((sum, len) => sum + len, 0)

export const makeKeeping = (sql: SqlClient.SqlClient) => {
  /** Locked until the end of the transaction: places in a series are assigned one by one. */
  const grow = Effect.fnUntraced(function* (name: string, entries: number, len: number) {
    const rows = yield* sql<{ id: number }>`INSERT INTO search_scopes (name, entries, len)
      VALUES (${name}, ${entries}, ${len}) ON CONFLICT (name) DO UPDATE
      SET entries = search_scopes.entries + excluded.entries, len = search_scopes.len + excluded.len RETURNING id`
    return rows[0]!.id
  })

  /** Sorted, so that two writers take their locks in the same order. */
  const countTerms = Effect.fnUntraced(function* (scope: number, changes: Changes) {
    const rows = [...changes]
      .filter(([, n]) => n !== 0)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([term, n]) => ({ scope, term, n }))
    for (let from = 0; from < rows.length; from += atOnce) {
      const some = rows.slice(from, from + atOnce)
      yield* sql`INSERT INTO search_terms ${sql.insert(some as never)}
        ON CONFLICT (scope, term) DO UPDATE SET n = search_terms.n + excluded.n`
      const fewer = some.filter(({ n }) => n < 0).map(({ term }) => term)
      if (fewer.length > 0)
        yield* sql`DELETE FROM search_terms WHERE scope = ${scope} AND n <= 0 AND ${sql.in("term", fewer)}`
    }
  })

  const ends = (scope: number, series: string, last: boolean, limit: number) =>
    sql<SeriesRow>`SELECT place, tail FROM search_index WHERE scope = ${scope} AND series = ${series}
      ORDER BY place ${sql.literal(last ? "DESC" : "ASC")} LIMIT ${limit}`

  const pushFrom = Effect.fnUntraced(function* (scope: number, series: string, place: number) {
    const those = sql`scope = ${scope} AND series = ${series}`
    yield* sql`UPDATE search_index SET place = ${aside} - place WHERE ${those} AND place >= ${place}`
    yield* sql`UPDATE search_index SET place = ${aside + 1} - place WHERE ${those} AND place < ${aside / 2}`
  })

  const placeIn = Effect.fnUntraced(function* (scope: number, series: string | null, tail: string | null) {
    if (series === null) return 0
    const end = yield* ends(scope, series, true, 1)
    const asLast = placeAmong(end, end[0], tail)
    // Most rows go to the end.
    if (end[0] === undefined || asLast.place > end[0].place) return asLast.place
    const first = (yield* ends(scope, series, false, 1))[0]
    const { place, push }: Insertion = placeAmong(yield* ends(scope, series, true, nearEnd), first, tail)
    if (push) yield* pushFrom(scope, series, place)
    return place
  })

  const rowsOf = (entry: Entry): ReadonlyArray<Row> =>
    partsOf(entry).map(({ labels, terms, tokens }) => ({
      len: terms.length,
      labels: labels.join(" "),
      terms: terms.join(" "),
      tokens: tokens.join(" "),
    }))

  /** The passages of a long text form their own series. */
  const seriesOf = (entry: Entry, parts: number) => (parts === 1 ? entry.series : entry.ref)
  const tailOf = (entry: Entry, parts: number) => (parts === 1 && entry.series !== null ? (entry.order ?? null) : null)

  const tokensIn = (row: Row, scope: number): string => `${row.tokens} ${scopeToken(scope)}`

  /** Most repeated puts change nothing. */
  const isSame = (entry: Entry, rows: ReadonlyArray<Row>, before: ReadonlyArray<Stored>, scope: number): boolean =>
    rows.length === before.length &&
    rows.every((row, part) => {
      const { labels, series, terms, tokens } = before[part]!
      const same = row.terms === terms && row.labels === labels && tokensIn(row, scope) === tokens
      return same && series === seriesOf(entry, rows.length)
    })

  const add = Effect.fnUntraced(function* (entry: Entry, rows: ReadonlyArray<Row>, scope: number, from = 0) {
    if (from >= rows.length) return
    const series = seriesOf(entry, rows.length)
    const tail = tailOf(entry, rows.length)
    const first = rows.length === 1 ? yield* placeIn(scope, series, tail) : 0
    const stored = rows.slice(from).map((row, at) => {
      const part = from + at
      return { scope, ref: entry.ref, part, series, place: first + part, tail, ...row, tokens: tokensIn(row, scope) }
    })
    yield* sql`INSERT INTO search_index ${sql.insert(stored as never)}`
  })

  /** Rows keep their places and numbers and get other words, so that the text stays as new as it was. */
  const change = Effect.fnUntraced(function* (
    entry: Entry,
    rows: ReadonlyArray<Row>,
    before: ReadonlyArray<Stored>,
    scope: number,
  ) {
    const series = seriesOf(entry, rows.length)
    const tail = tailOf(entry, rows.length)
    if (before.length > rows.length)
      yield* sql`DELETE FROM search_index WHERE ref = ${entry.ref} AND scope = ${scope} AND part >= ${rows.length}`
    for (const [part, old] of before.slice(0, rows.length).entries()) {
      const row = rows[part]!
      const place = rows.length > 1 ? part : old.series === series ? old.place : yield* placeIn(scope, series, tail)
      yield* sql`UPDATE search_index SET series = ${series}, place = ${place}, tail = ${tail}, len = ${row.len},
        labels = ${row.labels}, terms = ${row.terms}, tokens = ${tokensIn(row, scope)}
        WHERE seq = ${old.seq}`
    }
    yield* add(entry, rows, scope, before.length)
  })

  const storedOf = (scope: number, ref: string) =>
    sql<Stored>`SELECT seq, series, place, len, labels, terms, tokens FROM search_index
      WHERE ref = ${ref} AND scope = ${scope} ORDER BY part`

  const leave = Effect.fnUntraced(function* (scope: { readonly id: number; readonly name: string }, ref: string) {
    const before = yield* storedOf(scope.id, ref)
    if (before.length === 0) return
    yield* grow(scope.name, -before.length, -total(before.map(({ len }) => len)))
    const changes: Changes = new Map()
    for (const row of before) count(changes, termsIn(row), -1)
    yield* sql`DELETE FROM search_index WHERE ref = ${ref} AND scope = ${scope.id}`
    yield* countTerms(scope.id, changes)
  })

  const put = Effect.fnUntraced(function* ({ entry, isNew }: Put) {
    const rows = rowsOf(entry)
    const changes: Changes = new Map()
    for (const row of rows) count(changes, termsIn(row), 1)
    const len = total(rows.map((row) => row.len))
    if (isNew) {
      const scope = yield* grow(entry.scope, rows.length, len)
      yield* add(entry, rows, scope)
      return yield* countTerms(scope, changes)
    }
    const scope = yield* grow(entry.scope, 0, 0)
    const before = yield* storedOf(scope, entry.ref)
    if (isSame(entry, rows, before, scope)) return
    for (const row of before) count(changes, termsIn(row), -1)
    yield* change(entry, rows, before, scope)
    yield* grow(entry.scope, rows.length - before.length, len - total(before.map((row) => row.len)))
    yield* countTerms(scope, changes)
  })

  const scopesOf = (refs: ReadonlyArray<string>) =>
    sql<{ ref: string; id: number; name: string }>`SELECT DISTINCT i.ref, s.id, s.name FROM search_index i
      JOIN search_scopes s ON s.id = i.scope WHERE ${sql.in("i.ref", refs)}`

  const remove = Effect.fnUntraced(function* ({ ref, scope }: Remove) {
    const rows = (yield* scopesOf([ref])).toSorted((one, other) => (one.name < other.name ? -1 : 1))
    for (const row of rows) if (scope === undefined || row.name === scope) yield* leave(row, ref)
  })

  /** All scopes of several changes, by name: two writers take their locks in the same order. */
  const lockScopes = Effect.fnUntraced(function* (all: ReadonlyArray<IndexChange>) {
    const names = new Set(all.flatMap((one) => ("entry" in one ? [one.entry.scope] : [])))
    const removes = all.filter((one) => !("entry" in one)) as ReadonlyArray<Remove>
    const left = new Set(removes.map(({ ref, scope = "" }) => `${ref} ${scope}`))
    for (const some of Arr.chunksOf([...new Set(removes.map(({ ref }) => ref))], atOnce))
      for (const { name, ref } of yield* scopesOf(some))
        if (left.has(`${ref} `) || left.has(`${ref} ${name}`)) names.add(name)
    if (names.size > 1) for (const name of [...names].toSorted()) yield* grow(name, 0, 0)
  })
  const locked = sql.onDialectOrElse({ pg: () => lockScopes, orElse: () => () => Effect.void })

  /** The changes of one transaction, in order. */
  return Effect.fn("SearchIndex.keep")(function* (all: ReadonlyArray<IndexChange>) {
    if (all.length > 1) yield* locked(all)
    for (const one of all) yield* "entry" in one ? put(one) : remove(one)
  }, Effect.orDie)
}
