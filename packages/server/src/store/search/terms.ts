/**
 * Text to terms: the one function that reads records and questions alike, so that what was written and what is asked meet.
 * A term holds letters and digits only; both databases take it as it is. Pure.
 */
import { baseForms, stopWords } from "./words.ts"

const longest = 40
const vowel = /[aeiouy]/

const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[\u2018\u2019\u02bc\uff07`]/g, "'")
    .toLowerCase()

/** Only if so many letters stay. */
const plurals: ReadonlyArray<readonly [ending: RegExp, to: string, stay: number]> = [
  [/sses$/, "ss", 2],
  [/ies$/, "y", 2],
  [/shes$/, "sh", 2],
  [/ches$/, "ch", 2],
  [/xes$/, "x", 2],
  [/zzes$/, "zz", 2],
  [/s$/, "", 3],
]

const singular = (word: string): string => {
  if (/(ss|us|is)$/.test(word)) return word
  for (const [ending, to, stay] of plurals) {
    const stem = word.replace(ending, "")
    if (stem !== word && stem.length >= stay) return stem + to
  }
  return word
}

const cut = (word: string, ending: string, stay: number): string | undefined => {
  const stem = word.slice(0, -ending.length)
  return word.endsWith(ending) && stem.length >= stay && vowel.test(stem) ? stem : undefined
}

const undouble = (word: string): string => word.replace(/([bdfgmnprt])\1$/, "$1")

const stem = (word: string): string => {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  let out = singular(word)
  const verb = cut(out, "ing", 3) ?? cut(out, "ed", 3)
  out = verb === undefined ? (cut(out, "ly", 4) ?? out) : undouble(verb)
  return out.length > 3 ? out.replace(/e$/, "").replace(/y$/, "i") : out
}

/** What stands before `n't` says nothing, one or two letters after an apostrophe neither. */
const apart = (run: string): ReadonlyArray<string> => {
  const [first = "", ...tails] = run.split("'")
  const words = tails[0] === "t" ? [] : [first]
  return [...words, ...tails.filter((tail) => tail.length > 2)]
}

const pairsOf = (run: string): ReadonlyArray<string> => {
  const letters = [...run]
  return letters.length < 2 ? letters : letters.slice(1).map((letter, at) => letters[at]! + letter)
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** The words of a text as they were written, folded: no stop words dropped, nothing stemmed. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (fold(text).match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? []).flatMap(apart).filter((word) => word !== "")

export const termsOf = (text: string): ReadonlyArray<string> =>
  wordsOf(text).flatMap((word) => {
    const short = [...word].slice(0, longest).join("")
    if (unspaced.test(short)) return pairsOf(short)
    if (stopWords.has(short)) return []
    return [stem(baseForms.get(short) ?? short)]
  })

/** A word as it stands in a text, where it begins, and the terms it comes to. */
export interface Word {
  readonly word: string
  readonly at: number
  readonly terms: ReadonlyArray<string>
}

/** The words of a text in place, for showing why it was found. A word that stands there often is looked at once. */
export const wordsIn = (text: string): ReadonlyArray<Word> => {
  const known = new Map<string, ReadonlyArray<string>>()
  const of = (word: string): ReadonlyArray<string> => {
    const terms = known.get(word) ?? termsOf(word)
    known.set(word, terms)
    return terms
  }
  const runs = text.matchAll(/[\p{L}\p{N}\p{M}]+(?:['\u2018\u2019\u02bc][\p{L}\p{N}\p{M}]+)*/gu)
  return Array.from(runs, ({ 0: word, index }) => ({ word, at: index, terms: of(word) }))
}

/** A leading `Name:`, as chats are written down: who speaks is a label, not what is said. */
const speaker = /^\s{0,8}([\p{L}\p{N}][\p{L}\p{N} ._'-]{0,62}):\s/u

export const speakerOf = (text: string): { readonly name: string; readonly rest: string } => {
  const name = speaker.exec(text)?.[0]
  return name === undefined
    ? { name: "", rest: text }
    : { name: name.replace(/:\s$/, ""), rest: text.slice(name.length) }
}

const trigrams = (word: string): ReadonlySet<string> => {
  const padded = `  ${word} `
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)))
}

/** How alike two words are, by the runs of three letters they share: 0 to 1. */
export const likeness = (one: string, other: string): number => {
  const [mine, theirs] = [trigrams(one), trigrams(other)]
  const shared = [...mine].filter((run) => theirs.has(run)).length
  return shared / (mine.size + theirs.size - shared)
}

/** What stands in quotes is meant word for word. */
export const phrasesOf = (question: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...question.matchAll(/["\u201c\u201d]([^"\u201c\u201d]{1,400})["\u201c\u201d]/g)]
    .map(([, phrase]) => wordsOf(phrase ?? ""))
    .filter((phrase) => phrase.length > 0)

/** Whether the words of a phrase stand in a text, in this order and without others between them. */
export const holdsPhrase = (text: string, phrase: ReadonlyArray<string>): boolean =>
  ` ${wordsOf(text).join(" ")} `.includes(` ${phrase.join(" ")} `)
