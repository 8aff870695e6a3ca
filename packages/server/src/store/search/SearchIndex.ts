/**
 * Finding texts by a question in plain words: any of its words, the best first, the same on both databases. The index of the
 * database only finds candidates; `score.ts` orders them. Rooms put in what they own, in the transaction that writes it, and
 * name the scopes a caller may read.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Transaction } from "../journal/Journal.ts"
import { type Entry, filterToken, type Part, partsOf } from "./entries.ts"
import {
  askedOf,
  baseOf,
  looksFor,
  type Match,
  mayBeMisspelt,
  meantBy,
  mostScopes,
  type Question,
  questionOf,
} from "./question.ts"
import { type Asked, type Row, score, type Scored } from "./score.ts"

interface Found {
  readonly ref: string
  readonly score: number
  readonly words: ReadonlyArray<string>
  readonly near: ReadonlyArray<string>
  readonly label: ReadonlyArray<string>
}

export interface Answered {
  /** Best first, each text once. */
  readonly found: ReadonlyArray<Found>
  /** Words nobody wrote, by what was looked for instead. */
  readonly fixed: Readonly<Record<string, string>>
  /** What stood in quotes; whoever has the texts checks it word for word. */
  readonly phrases: ReadonlyArray<ReadonlyArray<string>>
}

/** Rows that are read and scored for one question. */
const budget = 1000
/** So many of the best are asked for their neighbours. */
const heard = 50
const away = 2
/** Terms of a scope that are compared with a misspelt word. */
const mostCompared = 20_000

interface StoredRow extends Row {
  readonly part: number
  readonly tokens: string
}

interface Scope {
  readonly id: number
  readonly name: string
  readonly entries: number
  readonly len: number
}

export class SearchIndex extends Context.Service<
  SearchIndex,
  {
    /** Puts a text in, or in the place of what the same ref had in this scope. */
    readonly put: (entry: Entry) => Effect.Effect<void, never, Transaction>
    /** Takes a text out of one scope, or of all. */
    readonly remove: (ref: string, scope?: string) => Effect.Effect<void, never, Transaction>
    readonly find: (
      scopes: ReadonlyArray<string>,
      question: string,
      filters?: ReadonlyArray<string>,
    ) => Effect.Effect<Answered>
  }
>()("server/store/search/SearchIndex") {
  static readonly layer = Layer.effect(
    SearchIndex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const scopeOf = Effect.fnUntraced(function* (name: string) {
        yield* sql`INSERT INTO search_scopes (name, entries, len) VALUES (${name}, 0, 0) ON CONFLICT (name) DO NOTHING`
        // Held until the end of the transaction: places in a series are given one by one.
        const held = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))
        const rows = yield* sql<{ id: number }>`SELECT id FROM search_scopes WHERE name = ${name} ${held}`
        return rows[0]!.id
      })

      /** Sorted, so that two writers take their locks in one order. */
      const countTerms = Effect.fnUntraced(function* (scope: number, changes: ReadonlyMap<string, number>) {
        const rows = [...changes]
          .filter(([, n]) => n !== 0)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([term, n]) => ({ scope, term, n }))
        if (rows.length === 0) return
        yield* sql`INSERT INTO search_terms ${sql.insert(rows as never)}
          ON CONFLICT (scope, term) DO UPDATE SET n = search_terms.n + excluded.n`
        const fewer = rows.filter(({ n }) => n < 0).map(({ term }) => term)
        if (fewer.length > 0)
          yield* sql`DELETE FROM search_terms WHERE scope = ${scope} AND n <= 0 AND ${sql.in("term", fewer)}`
      })

      const nextPlace = Effect.fnUntraced(function* (scope: number, series: string) {
        const rows = yield* sql<{ place: number | null }>`SELECT max(place) AS place FROM search_index
          WHERE scope = ${scope} AND series = ${series}`
        return (rows[0]?.place ?? -1) + 1
      })

      const termsIn = (row: { readonly labels: string; readonly terms: string }): ReadonlySet<string> =>
        new Set([...row.terms.split(" "), ...row.labels.split(" ")].filter((term) => term !== ""))

      const replace = Effect.fnUntraced(function* (
        scope: number,
        ref: string,
        parts: ReadonlyArray<Part>,
        series: string | null,
      ) {
        const before = yield* sql<StoredRow>`SELECT seq, part, series, place, len, labels, terms FROM search_index
          WHERE ref = ${ref} AND scope = ${scope} ORDER BY part`
        const changes = new Map<string, number>()
        const change = (terms: ReadonlySet<string>, by: number) => {
          for (const term of terms) changes.set(term, (changes.get(term) ?? 0) + by)
        }
        for (const row of before) change(termsIn(row), -1)
        const own = parts.length > 1 ? ref : series
        for (const [part, { labels, terms, tokens }] of parts.entries()) {
          const row = {
            len: terms.length,
            labels: labels.join(" "),
            terms: terms.join(" "),
            tokens: tokens.join(" "),
          }
          change(termsIn(row), 1)
          const old = before[part]
          const stays = old !== undefined && old.series === own
          const place = stays ? old.place : own === null ? 0 : yield* nextPlace(scope, own)
          if (old === undefined)
            yield* sql`INSERT INTO search_index ${sql.insert({ scope, ref, part, series: own, place, ...row })}`
          else
            yield* sql`UPDATE search_index SET series = ${own}, place = ${place}, len = ${row.len},
              labels = ${row.labels}, terms = ${row.terms}, tokens = ${row.tokens} WHERE seq = ${old.seq}`
        }
        if (before.length > parts.length)
          yield* sql`DELETE FROM search_index WHERE ref = ${ref} AND scope = ${scope} AND part >= ${parts.length}`
        yield* countTerms(scope, changes)
        const lengthOf = (rows: ReadonlyArray<number>) => rows.reduce((sum, len) => sum + len, 0)
        const len = lengthOf(parts.map(({ terms }) => terms.length)) - lengthOf(before.map((row) => row.len))
        yield* sql`UPDATE search_scopes SET entries = entries + ${parts.length - before.length}, len = len + ${len}
          WHERE id = ${scope}`
      })

      const put: SearchIndex["Service"]["put"] = Effect.fn("SearchIndex.put")(function* (entry: Entry) {
        const scope = yield* scopeOf(entry.scope)
        yield* replace(scope, entry.ref, partsOf(entry, scope), entry.series)
      }, Effect.orDie)

      const remove: SearchIndex["Service"]["remove"] = Effect.fn("SearchIndex.remove")(function* (
        ref: string,
        scope?: string,
      ) {
        const rows = yield* sql<{ scope: number; name: string }>`SELECT DISTINCT i.scope, s.name FROM search_index i
          JOIN search_scopes s ON s.id = i.scope WHERE i.ref = ${ref} ORDER BY i.scope`
        for (const row of rows) if (scope === undefined || row.name === scope) yield* replace(row.scope, ref, [], null)
      }, Effect.orDie)

      const scopesNamed = (names: ReadonlyArray<string>) =>
        names.length === 0
          ? Effect.succeed([])
          : sql<Scope>`SELECT id, name, entries, len FROM search_scopes WHERE ${sql.in("name", [...new Set(names)])}
                AND entries > 0 ORDER BY id`

      const frequencies = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, terms: ReadonlyArray<string>) {
        const rows = yield* sql<{ term: string; n: number | string }>`SELECT term, sum(n) AS n FROM search_terms
          WHERE ${sql.in("scope", ids)} AND ${sql.in("term", terms)} GROUP BY term`
        return new Map(rows.map(({ n, term }) => [term, Number(n)]))
      })

      /** Terms of these scopes that begin alike and are about as long. */
      const alike = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, term: string) {
        const first = [...term][0]!
        const rows = yield* sql<{ term: string; n: number | string }>`SELECT term, sum(n) AS n FROM search_terms
          WHERE ${sql.in("scope", ids)} AND term >= ${first} AND term < ${first + "\u{10ffff}"}
          AND length(term) BETWEEN ${[...term].length - 2} AND ${[...term].length + 2}
          GROUP BY term ORDER BY term LIMIT ${mostCompared}`
        return meantBy(
          term,
          rows.map((row) => ({ term: row.term, n: Number(row.n) })),
        )
      })

      const expression = (match: Match): string => {
        const [and, or, quote] = sql.onDialectOrElse({
          pg: () => [" & ", " | ", "'"] as const,
          orElse: () => [" AND ", " OR ", '"'] as const,
        })
        return match.map((any) => `(${any.map((token) => `${quote}${token}${quote}`).join(or)})`).join(and)
      }

      const lookUp = (match: Match, scopes: ReadonlyArray<Scope>, limit: number) => {
        const asked = expression(match)
        const ids = scopes.map(({ id }) => id)
        const inScopes = scopes.length <= mostScopes ? sql`` : sql`WHERE ${sql.in("scope", ids)}`
        return Effect.map(
          sql.onDialectOrElse({
            // Materialized, or the planner may walk the whole table backwards.
            pg: () => sql<{ seq: number }>`WITH hit AS MATERIALIZED
                (SELECT seq, scope FROM search_index WHERE words @@ ${asked}::tsquery)
                SELECT seq FROM hit ${inScopes} ORDER BY seq DESC LIMIT ${limit}`,
            orElse: () =>
              scopes.length <= mostScopes
                ? sql<{ seq: number }>`SELECT rowid AS seq FROM search_words WHERE search_words MATCH ${asked}
                    ORDER BY rowid DESC LIMIT ${limit}`
                : sql<{ seq: number }>`SELECT seq FROM search_index WHERE ${sql.in("scope", ids)} AND seq IN
                    (SELECT rowid FROM search_words WHERE search_words MATCH ${asked}) ORDER BY seq DESC LIMIT ${limit}`,
          }),
          (rows) => rows.map((row) => row.seq),
        )
      }

      const rowsAt = (seqs: ReadonlyArray<number>) =>
        seqs.length === 0
          ? Effect.succeed([])
          : sql<StoredRow>`SELECT seq, ref, part, scope, series, place, len, labels, terms, tokens FROM search_index
                WHERE ${sql.in("seq", seqs)}`

      const neighboursOf = Effect.fnUntraced(function* (best: ReadonlyArray<Scored>, known: ReadonlySet<number>) {
        const wanted = best.flatMap(({ row }) =>
          row.series === null
            ? []
            : [
                sql`(scope = ${row.scope} AND series = ${row.series}
                  AND place BETWEEN ${row.place - away} AND ${row.place + away})`,
              ],
        )
        if (wanted.length === 0) return []
        const rows = yield* sql<StoredRow>`SELECT seq, ref, part, scope, series, place, len, labels, terms, tokens
          FROM search_index WHERE ${sql.or(wanted)}`
        return rows.filter(({ seq }) => !known.has(seq))
      })

      /** The terms as they are asked: those somebody wrote, and for the others what was probably meant. */
      const asking = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, question: Question) {
        const n = yield* frequencies(ids, question.terms)
        const found: Array<Asked> = []
        const fixed: Record<string, string> = {}
        for (const term of question.terms) {
          const count = n.get(term)
          if (count !== undefined) found.push({ term, n: count, weight: 1 })
          else if (mayBeMisspelt(term)) {
            const meant = yield* alike(ids, term)
            if (meant[0] !== undefined) fixed[term] = meant[0].term
            found.push(...meant)
          }
        }
        return { asked: askedOf(found), fixed }
      })

      const candidates = Effect.fnUntraced(function* (
        scopes: ReadonlyArray<Scope>,
        asked: ReadonlyArray<Asked>,
        question: Question,
      ) {
        const seqs = new Set<number>()
        for (const { limit, match } of looksFor(asked, baseOf(scopes, question), budget)) {
          if (seqs.size >= budget) break
          const room = Math.min(limit, budget - seqs.size)
          for (const seq of yield* lookUp(match, scopes, room)) seqs.add(seq)
        }
        return yield* rowsAt([...seqs])
      })

      const find: SearchIndex["Service"]["find"] = Effect.fn("SearchIndex.find")(function* (
        names: ReadonlyArray<string>,
        text: string,
        filters: ReadonlyArray<string> = [],
      ) {
        const question = questionOf(text, filters)
        const none = { found: [], fixed: {}, phrases: question.phrases }
        const scopes = yield* scopesNamed(names)
        if (scopes.length === 0 || question.terms.length === 0) return none
        const { asked, fixed } = yield* asking(
          scopes.map(({ id }) => id),
          question,
        )
        if (asked.length === 0) return none
        const sizes = {
          rows: scopes.reduce((sum, { entries }) => sum + entries, 0),
          len: scopes.reduce((sum, { len }) => sum + len, 0),
        }
        const rows = yield* candidates(scopes, asked, question)
        const best = score(rows, asked, sizes).slice(0, heard)
        const near = yield* neighboursOf(best, new Set(rows.map(({ seq }) => seq)))
        const wanted = filters.map(filterToken)
        const fits = ({ row }: Scored): boolean => {
          const tokens = ` ${(row as StoredRow).tokens} `
          return wanted.every((token) => tokens.includes(` ${token} `))
        }
        const ranked = score([...rows, ...near], asked, sizes).filter(fits)
        const found = new Map<string, Found>()
        for (const { label, near: lent, row, score: points, words } of ranked)
          if (!found.has(row.ref)) found.set(row.ref, { ref: row.ref, score: points, words, near: lent, label })
        return { found: [...found.values()], fixed, phrases: question.phrases }
      }, Effect.orDie)

      return SearchIndex.of({ put, remove, find })
    }),
  )
}
