/** Why a text was found, in words a person wrote: those of the question, and those that stand in the text. Pure. */
import type { MemoryMatch } from "@stoa/contract"
import type { Answered, Found } from "./SearchIndex.ts"
import { holdsPhrase, type Word, wordsIn } from "./terms.ts"

/** A text of up to so many characters is its own passage. */
const short = 400
const window = 300
/** So much of a text is read for its passage. */
const mostRead = 64 * 1024

/** What stood in quotes stands in the text, word for word. */
export const holdsPhrases = (text: string, { phrases }: Pick<Answered, "phrases">): boolean =>
  phrases.every((phrase) => holdsPhrase(text, phrase))

/** The part of a text where the most of these terms are, and among equals the first. */
const densest = (text: string, words: ReadonlyArray<Word>, terms: ReadonlySet<string>): string => {
  const own = words.filter((word) => word.terms.some((term) => terms.has(term)))
  let best = { from: 0, many: 0 }
  for (const [first, { at }] of own.entries()) {
    const within = own.slice(first, first + 60).filter((word) => word.at + word.word.length <= at + window)
    const many = new Set(within.flatMap((word) => word.terms)).size * 100 + within.length
    if (many > best.many) best = { from: at, many }
  }
  const from = words.findLast(({ at }) => at <= Math.max(0, best.from - 40))?.at ?? 0
  const end = words.find(({ at, word }) => at + word.length > from + short)?.at ?? text.length
  return `${from > 0 ? "… " : ""}${text.slice(from, end).trim()}${end < text.length ? " …" : ""}`
}

export const matchOf = (
  { label, near, nearest, score, words }: Found,
  answered: Answered,
  text: string,
): MemoryMatch => {
  const read = wordsIn(text.slice(0, mostRead))
  const written = new Map(read.toReversed().flatMap(({ terms, word }) => terms.map((term) => [term, word])))
  // As it was asked; a word that was put right, as it stands there.
  const shown = (term: string): string => answered.asked.get(term) ?? written.get(term) ?? term
  const fixed = Object.fromEntries(
    Object.entries(answered.fixed).map(([asked, meant]) => [shown(asked), written.get(meant)?.toLowerCase() ?? meant]),
  )
  return {
    score,
    words: words.map(shown),
    near: near.map(shown),
    label: label.map(shown),
    fixed,
    ...(answered.meaning === undefined ? {} : { vector: { place: nearest ?? null, ...answered.meaning } }),
    ...(text.length <= short ? {} : { passage: densest(text, read, new Set(words)) }),
  }
}
