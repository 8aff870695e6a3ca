/** A question as the database is asked it: which words, how rare, and which rows to look at. Pure. */
import { filterToken, nounToken, scopeToken } from "./entries.ts"
import { type QueryTerm, rarestFirst } from "./score.ts"
import { likeness, phrasesOf, termsOf, wordsIn } from "./terms.ts"

/** A question of more words than this is asked by its rarest. */
const mostTerms = 16
/** So long a question is read; the rest is not. */
const longestQuestion = 2000

export interface SearchQuery {
  /** Its words as they were asked, by their terms. */
  readonly words: ReadonlyMap<string, string>
  readonly terms: ReadonlyArray<string>
  /** What stood in quotes: each must be there word for word. */
  readonly phrases: ReadonlyArray<ReadonlyArray<string>>
  readonly filters: ReadonlyArray<string>
}

export const questionOf = (text: string, filters: ReadonlyArray<string> = []): SearchQuery => {
  const read = text.slice(0, longestQuestion)
  const words = new Map(wordsIn(read).flatMap(({ terms, word }) => terms.map((term) => [term, word.toLowerCase()])))
  return { words, terms: [...new Set(termsOf(read))].slice(0, 200), phrases: phrasesOf(read), filters }
}

/** Only words of some length without digits are taken for misspelt. */
export const mayBeMisspelt = (term: string): boolean => term.length >= 4 && !/\p{N}/u.test(term)

/** What was probably meant by a word nobody wrote: the three most alike. */
export const meantBy = (
  term: string,
  known: ReadonlyArray<{ readonly term: string; readonly n: number }>,
): ReadonlyArray<QueryTerm> =>
  known
    .map((one) => ({ ...one, weight: likeness(term, one.term) }))
    .filter(({ weight }) => weight >= 0.3)
    .toSorted((one, other) => other.weight - one.weight || rarestFirst(one, other))
    .slice(0, 3)

/** The terms that are asked for, rarest first, each once. */
export const askedOf = (found: ReadonlyArray<QueryTerm>): ReadonlyArray<QueryTerm> => {
  const best = new Map<string, QueryTerm>()
  for (const one of found) if ((best.get(one.term)?.weight ?? 0) < one.weight) best.set(one.term, one)
  return [...best.values()].toSorted(rarestFirst).slice(0, mostTerms)
}

/** A condition on tokens: all of these groups, any token of each. */
export type Match = ReadonlyArray<ReadonlyArray<string>>

/** One look into the index. */
export interface IndexQuery {
  readonly match: Match
  readonly limit: number
}

/** How many scopes a match names one by one. More are asked for by their noun, and told apart by their column. */
export const mostScopes = 400

export const baseOf = (
  scopes: ReadonlyArray<{ readonly id: number; readonly name: string }>,
  { filters, phrases }: SearchQuery,
): Match => [
  scopes.length <= mostScopes
    ? scopes.map(({ id }) => scopeToken(id))
    : [...new Set(scopes.map(({ name }) => nounToken(name)))],
  ...filters.map((filter) => [filterToken(filter)]),
  ...phrases.flatMap((phrase) => termsOf(phrase.join(" ")).map((term) => [term])),
]

/**
 * A budget of rows, not the whole index: whole lists of the rarest words, then pairs of the next, then the newest with the
 * rarest left. The caller stops when the budget is used up.
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
