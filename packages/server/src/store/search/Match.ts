/** Why a text was found, in the original words of the question and of the text. */
import type { MemoryMatch } from "@stoa/contract"
import { Effect } from "effect"
import type { SearchAnswer, SearchHit } from "./SearchIndex.ts"
import { holdsPhrase, type Word, wordsIn } from "./text/terms.ts"

/** A text of up to this many characters is its own passage. */
const short = 400
const window = 300
/**
 * The most characters read per text for its passage, and for all texts of an answer; beyond that a text is shown from
 * its beginning.
 */
const maxRead = 16 * 1024
const maxOfAnswer = 256 * 1024
/** How many short texts are processed before others get a turn; after a long one they always do. */
const atOnce = 8
/** The most positions of words that are compared in one text. */
const maxPlaces = 400

/** Whether the quoted phrases are in the text, word for word. */
const holdsPhrases = (text: string, { phrases }: Pick<SearchAnswer, "phrases">): boolean =>
  phrases.every((phrase) => holdsPhrase(text, phrase))

/** The part of a text with the most of these terms; of equal parts the first. */
const densest = (text: string, words: ReadonlyArray<Word>, terms: ReadonlySet<string>): string => {
  const own = words.filter((word) => word.terms.some((term) => terms.has(term))).slice(0, maxPlaces)
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

const matchOf = (
  { nearest, score, why }: SearchHit,
  answered: SearchAnswer,
  text: string,
  most: number,
): MemoryMatch => {
  const { label, near, words } = why()
  const read = wordsIn(text.slice(0, most))
  const written = new Map(read.toReversed().flatMap(({ terms, word }) => terms.map((term) => [term, word])))
  // The word as asked; for a corrected word, as it is in the text.
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

/**
 * The matches in these texts, by id: those that contain the question's phrases, and why. Long texts are user input and
 * block the event loop, so others get a turn in between.
 */
export const matchesOf = Effect.fnUntraced(function* (
  answered: SearchAnswer,
  texts: ReadonlyArray<{ readonly id: string; readonly text: string }>,
) {
  const hits = new Map(answered.found.map((hit) => [hit.ref, hit]))
  const matches = new Map<string, MemoryMatch>()
  let left = maxOfAnswer
  for (const { id, text } of texts) {
    if (!holdsPhrases(text, answered)) continue
    const most = Math.min(maxRead, Math.max(left, short))
    left -= Math.min(most, text.length)
    matches.set(id, matchOf(hits.get(id)!, answered, text, most))
    if (text.length > short || matches.size % atOnce === 0) yield* Effect.yieldNow
  }
  return matches
})
