/** A question as a query: which words, how rare they are, and which rows to look at. Pure. */
import { filterToken, nounToken, scopeToken } from "./index/entries.ts"
import { type QueryTerm, rarestFirst } from "./score.ts"
import { likeness, phrasesOf, termsOf, wordsIn } from "./text/terms.ts"

/** A question with more words than this is searched by its rarest. */
const maxTerms = 16
/** Only this much of a question is read. */
const longestQuestion = 2000

export interface SearchQuery {
  /** The words of the question as written, by their terms. */
  readonly words: ReadonlyMap<string, string>
  readonly terms: ReadonlyArray<string>
  /** The quoted phrases: each must be in the text word for word. */
  readonly phrases: ReadonlyArray<ReadonlyArray<string>>
  readonly filters: ReadonlyArray<string>
}

export const questionOf = (text: string, filters: ReadonlyArray<string> = []): SearchQuery => {
  const read = text.slice(0, longestQuestion)
  const words = new Map(wordsIn(read).flatMap(({ terms, word }) => terms.map((term) => [term, word.toLowerCase()])))
  return { words, terms: [...new Set(termsOf(read))].slice(0, 200), phrases: phrasesOf(read), filters }
}

/** Only longer words without digits can be misspelt. */
export const mayBeMisspelt = (term: string): boolean => term.length >= 4 && !/\p{N}/u.test(term)

/** What was probably meant by an unknown word: the three most similar terms. */
export const similarTerms = (
  term: string,
  known: ReadonlyArray<{ readonly term: string; readonly n: number }>,
): ReadonlyArray<QueryTerm> =>
  known
    .map((one) => ({ ...one, weight: likeness(term, one.term) }))
    .filter(({ weight }) => weight >= 0.3)
    .toSorted((one, other) => other.weight - one.weight || rarestFirst(one, other))
    .slice(0, 3)

/** The terms to search, rarest first, each once. */
export const searchTerms = (found: ReadonlyArray<QueryTerm>): ReadonlyArray<QueryTerm> => {
  const best = new Map<string, QueryTerm>()
  for (const one of found) if ((best.get(one.term)?.weight ?? 0) < one.weight) best.set(one.term, one)
  return [...best.values()].toSorted(rarestFirst).slice(0, maxTerms)
}

/** A condition on tokens: any token of each of these groups. */
export type Match = ReadonlyArray<ReadonlyArray<string>>

/** One lookup in the index. */
export interface IndexQuery {
  readonly match: Match
  readonly limit: number
}

/** How many scopes a match names one by one. More are searched by their noun and filtered by the column. */
export const maxScopes = 400

export const baseOf = (
  scopes: ReadonlyArray<{ readonly id: number; readonly name: string }>,
  { filters, phrases }: SearchQuery,
): Match => [
  scopes.length <= maxScopes
    ? scopes.map(({ id }) => scopeToken(id))
    : [...new Set(scopes.map(({ name }) => nounToken(name)))],
  ...filters.map((filter) => [filterToken(filter)]),
  ...phrases.flatMap((phrase) => termsOf(phrase.join(" ")).map((term) => [term])),
]

/**
 * A budget of rows instead of the whole index: all rows of the rarest words, then pairs of the next, then the newest
 * with the rarest that is left. The caller stops when the budget is used up.
 */
export const indexQueriesFor = (
  asked: ReadonlyArray<QueryTerm>,
  base: Match,
  budget: number,
): ReadonlyArray<IndexQuery> => {
  let sum = 0
  const cheap = asked.filter(({ n }) => (sum += n) <= budget)
  const left = asked.slice(cheap.length).slice(0, 4)
  const pairs = left.flatMap((one, at) => left.slice(at + 1).map((other) => [one, other] as const))
  return [
    ...(cheap.length === 0 ? [] : [{ match: [...base, cheap.map(({ term }) => term)], limit: budget }]),
    ...pairs.map(([one, other]) => ({ match: [...base, [one.term], [other.term]], limit: budget })),
    ...left.slice(0, 1).map(({ term }) => ({ match: [...base, [term]], limit: budget })),
  ]
}
