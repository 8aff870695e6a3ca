/**
 * Finds texts by a question in plain words: any of its words, best first, the same on both databases. The database's
 * index only finds candidates; `score.ts` orders them. Rooms add their texts in the transaction that writes them, and
 * name the scopes that a caller may read.
 */
import { Array as Arr, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Journal, type Transaction } from "../journal/Journal.ts"
import { Pacing } from "../fibers/Pacing.ts"
import { type Entry, filterToken } from "./index/entries.ts"
import { makeKeeping } from "./index/keeping.ts"
import {
  searchTerms,
  baseOf,
  indexQueriesFor,
  type Match,
  mayBeMisspelt,
  similarTerms,
  maxScopes,
  type SearchQuery,
  questionOf,
} from "./question.ts"
import { mergedOrder } from "./vectors/nearness.ts"
import {
  type QueryTerm,
  type CountedRow,
  counter,
  type Row,
  score,
  type ScoredRow,
  type MatchReasons,
} from "./score.ts"
import { type QuestionVector, Vectors } from "./vectors/Vectors.ts"

export interface SearchHit {
  readonly ref: string
  readonly score: number
  readonly why: () => MatchReasons
  /** Its rank among the nearest in meaning, if meaning was searched and it is among them. */
  readonly nearest?: number
}

export interface SearchAnswer {
  /** Best first, each text once. */
  readonly found: ReadonlyArray<SearchHit>
  /** Words that are in no text, with what was searched instead. */
  readonly fixed: Readonly<Record<string, string>>
  /** The words of the question as written, by their terms. */
  readonly asked: ReadonlyMap<string, string>
  /** The quoted phrases; the caller, which has the texts, checks them word for word. */
  readonly phrases: ReadonlyArray<ReadonlyArray<string>>
  /** Whether meaning was searched too, and if not, why. Absent: there is no model for it. */
  readonly meaning?: { readonly problem?: string }
}

/** What a search can use besides words. */
export interface FindOptions {
  /** The question as a vector, or why there is none. */
  readonly meaning?: QuestionVector | { readonly problem: string } | undefined
  /** The most rows to read and score; fewer in tests. */
  readonly budget?: number
  /** Who asks: questions of one principal run one after the other. */
  readonly by?: string
}

/** Rows that are read and scored for one question. */
const usualBudget = 1000
/** Rows that are read and counted before others get a turn. */
const rowsAtOnce = 100
/** For this many of the best rows, neighbours are read. */
const heard = 50
const nothing = (): MatchReasons => ({ words: [], near: [], label: [] })
const away = 2
/** The most scopes of one question, and the most names to look up in one statement. */
const maxSearched = 20_000
const namesAtOnce = 5000
/** Terms of a scope that are compared with a misspelt word. */
const maxCompared = 20_000
/** The most unknown words of one question that are treated as misspelt; others are ignored. */
const maxGuessed = 16

interface StoredRow extends Row {
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
    /**
     * Adds a text, or replaces what the same ref had in this scope. `isNew`: it had nothing there. Found when its
     * transaction is committed, not before.
     */
    readonly put: (entry: Entry, isNew?: boolean) => Effect.Effect<void, never, Transaction>
    /** Removes a text from one scope, or from all. */
    readonly remove: (ref: string, scope?: string) => Effect.Effect<void, never, Transaction>
    readonly find: (
      scopes: ReadonlyArray<string>,
      question: string,
      filters?: ReadonlyArray<string>,
      options?: FindOptions,
    ) => Effect.Effect<SearchAnswer>
  }
>()("server/store/search/SearchIndex") {
  static readonly layer = Layer.effect(
    SearchIndex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const vectors = yield* Vectors
      const journal = yield* Journal
      const keep = Object.assign(makeKeeping(sql), { turn: 1 })
      // Put off, because many transactions change the same scope: it is locked only from there to the COMMIT.
      const put: SearchIndex["Service"]["put"] = (entry, isNew = false) => journal.putOff(keep, { entry, isNew })
      const remove: SearchIndex["Service"]["remove"] = (ref, scope) =>
        Effect.andThen(journal.putOff(keep, { ref, scope }), scope === undefined ? vectors.forget(ref) : Effect.void)

      /** The scopes that are not empty; the largest ones if there are too many for one question. */
      const scopesNamed = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
        const found: Array<Scope> = []
        for (const some of Arr.chunksOf([...new Set(names)], namesAtOnce))
          found.push(
            ...(yield* sql<Scope>`SELECT id, name, entries, len FROM search_scopes WHERE ${sql.in("name", some)}
              AND entries > 0`),
          )
        const largest =
          found.length <= maxSearched ? found : found.toSorted((one, other) => other.entries - one.entries)
        return largest.slice(0, maxSearched).toSorted((one, other) => one.id - other.id)
      })

      const frequencies = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, terms: ReadonlyArray<string>) {
        const rows = yield* sql<{ term: string; n: number | string }>`SELECT term, sum(n) AS n FROM search_terms
          WHERE ${sql.in("scope", ids)} AND ${sql.in("term", terms)} GROUP BY term`
        return new Map(rows.map(({ n, term }) => [term, Number(n)]))
      })

      /** Terms of these scopes with the same first letter and about the same length. */
      const alike = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, term: string) {
        const first = [...term][0]!
        const rows = yield* sql<{ term: string; n: number | string }>`SELECT term, sum(n) AS n FROM search_terms
          WHERE ${sql.in("scope", ids)} AND term >= ${first} AND term < ${first + "\u{10ffff}"}
          AND length(term) BETWEEN ${[...term].length - 2} AND ${[...term].length + 2}
          GROUP BY term ORDER BY term LIMIT ${maxCompared}`
        return similarTerms(
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
        const inScopes = scopes.length <= maxScopes ? sql`` : sql`WHERE ${sql.in("scope", ids)}`
        return Effect.map(
          sql.onDialectOrElse({
            // Materialized, because otherwise the planner may scan the whole table backwards.
            pg: () => sql<{ seq: number }>`WITH hit AS MATERIALIZED
                (SELECT seq, scope FROM search_index WHERE words @@ ${asked}::tsquery)
                SELECT seq FROM hit ${inScopes} ORDER BY seq DESC LIMIT ${limit}`,
            orElse: () =>
              scopes.length <= maxScopes
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
          : sql<StoredRow>`SELECT seq, ref, scope, series, place, len, labels, terms, tokens FROM search_index
                WHERE ${sql.in("seq", seqs)}`

      const neighboursOf = Effect.fnUntraced(function* (best: ReadonlyArray<ScoredRow>, known: ReadonlySet<number>) {
        const wanted = best.flatMap(({ row }) =>
          row.series === null
            ? []
            : [
                sql`(scope = ${row.scope} AND series = ${row.series}
                  AND place BETWEEN ${row.place - away} AND ${row.place + away})`,
              ],
        )
        if (wanted.length === 0) return []
        const rows = yield* sql<StoredRow>`SELECT seq, ref, scope, series, place, len, labels, terms, tokens
          FROM search_index WHERE ${sql.or(wanted)}`
        return rows.filter(({ seq }) => !known.has(seq))
      })

      /** The terms to search: those that exist, and for the others what was probably meant. */
      const asking = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, question: SearchQuery) {
        const n = yield* frequencies(ids, question.terms)
        const found: Array<QueryTerm> = []
        const fixed: Record<string, string> = {}
        let guessed = 0
        for (const term of question.terms) {
          const count = n.get(term)
          if (count !== undefined) found.push({ term, n: count, weight: 1 })
          else if (mayBeMisspelt(term) && guessed < maxGuessed) {
            guessed++
            const meant = yield* alike(ids, term)
            yield* Effect.yieldNow
            if (meant[0] !== undefined) fixed[term] = meant[0].term
            found.push(...meant)
          }
        }
        return { asked: searchTerms(found), fixed }
      })

      const candidates = Effect.fnUntraced(function* (
        scopes: ReadonlyArray<Scope>,
        asked: ReadonlyArray<QueryTerm>,
        question: SearchQuery,
        budget: number,
      ) {
        const seqs = new Set<number>()
        for (const { limit, match } of indexQueriesFor(asked, baseOf(scopes, question), budget)) {
          if (seqs.size >= budget) break
          const room = Math.min(limit, budget - seqs.size)
          for (const seq of yield* lookUp(match, scopes, room)) seqs.add(seq)
        }
        return [...seqs]
      })

      /** Yields in between: the rows of long texts are long. */
      const counted = Effect.fnUntraced(function* (seqs: ReadonlyArray<number>, asked: ReadonlyArray<QueryTerm>) {
        const count = counter(asked)
        const all: Array<CountedRow> = []
        for (const some of Arr.chunksOf(seqs, rowsAtOnce)) {
          for (const row of yield* rowsAt(some)) all.push(count(row))
          if (seqs.length > rowsAtOnce) yield* Effect.yieldNow
        }
        return all
      })

      /** By words alone: the texts, best first, and the rows that were looked at. */
      const byWords = Effect.fnUntraced(function* (
        scopes: ReadonlyArray<Scope>,
        question: SearchQuery,
        budget: number,
      ) {
        const { asked, fixed } =
          question.terms.length === 0
            ? { asked: [], fixed: {} }
            : yield* asking(
                scopes.map(({ id }) => id),
                question,
              )
        if (asked.length === 0) {
          const found = new Map<string, SearchHit>()
          // Only quoted stop words: returns the newest texts, and the caller, which has them, selects those that
          // contain the phrases.
          const seqs = question.phrases.length === 0 ? [] : yield* lookUp(baseOf(scopes, question), scopes, budget)
          for (const { ref } of (yield* rowsAt(seqs)).toSorted((one, other) => other.seq - one.seq))
            found.set(ref, { ref, score: 0, why: nothing })
          return { found, fixed, seqs }
        }
        const sizes = {
          rows: scopes.reduce((sum, { entries }) => sum + entries, 0),
          len: scopes.reduce((sum, { len }) => sum + len, 0),
        }
        const seqs = yield* candidates(scopes, asked, question, budget)
        const rows = yield* counted(seqs, asked)
        const best = score(rows, asked, sizes).slice(0, heard)
        if (seqs.length > rowsAtOnce) yield* Effect.yieldNow
        const near = (yield* neighboursOf(best, new Set(seqs))).map(counter(asked))
        if (seqs.length > rowsAtOnce) yield* Effect.yieldNow
        const wanted = question.filters.map(filterToken)
        const fits = ({ row }: ScoredRow): boolean => {
          const tokens = ` ${(row as StoredRow).tokens} `
          return wanted.every((token) => tokens.includes(` ${token} `))
        }
        const ranked = score([...rows, ...near], asked, sizes).filter(fits)
        const found = new Map<string, SearchHit>()
        for (const { row, score: points, why } of ranked)
          if (!found.has(row.ref)) found.set(row.ref, { ref: row.ref, score: points, why })
        return { found, fixed, seqs }
      })

      const findNow = Effect.fn("SearchIndex.find")(function* (
        names: ReadonlyArray<string>,
        text: string,
        filters: ReadonlyArray<string>,
        { budget = usualBudget, meaning }: FindOptions,
      ) {
        const question = questionOf(text, filters)
        const said = meaning === undefined ? {} : { meaning: "problem" in meaning ? meaning : {} }
        const told = { asked: question.words, phrases: question.phrases, ...said }
        const scopes = yield* scopesNamed(names)
        if (scopes.length === 0) return { found: [], fixed: {}, ...told }
        const { fixed, found, seqs } = yield* byWords(scopes, question, budget)
        if (meaning === undefined || "problem" in meaning) return { found: [...found.values()], fixed, ...told }
        const ids = scopes.map(({ id }) => id)
        const near = (yield* vectors.nearest(ids, meaning, filters, seqs)).map(({ row }) => row.ref)
        const places = new Map(near.map((ref, at) => [ref, at + 1]))
        const hits = mergedOrder([...found.keys()], near).map((ref): SearchHit => {
          const hit = found.get(ref) ?? { ref, score: 0, why: nothing }
          const place = places.get(ref)
          return place === undefined ? hit : { ...hit, nearest: place }
        })
        return { found: hits, fixed, ...told }
      }, Effect.orDie)

      const pacing = new Pacing({ least: 5, longest: 250 })
      const find: SearchIndex["Service"]["find"] = (names, text, filters = [], options = {}) => {
        const answer = findNow(names, text, filters, options)
        return options.by === undefined ? answer : pacing.run(options.by, answer)
      }

      return SearchIndex.of({ put, remove, find })
    }),
  ).pipe(Layer.provideMerge(Vectors.layer))
}
