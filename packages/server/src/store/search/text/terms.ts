/**
 * Text to terms: one function for records and questions, so that they match. A term contains only letters and digits;
 * both databases take it unchanged. Pure.
 */
import { baseForms, months, shortMonths, stopWords } from "./words.ts"

const longest = 40
const vowel = /[aeiouy]/

/** Removes diacritics and normalises apostrophes; keeps capitals. */
const unmarked = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[\u2018\u2019\u02bc\uff07`]/g, "'")

/** Adds the words of a date in digits, so that `2026-02-03` is found by `February 3`. */
const withDates = (text: string): string =>
  /\d{4}-\d\d-\d\d/.test(text)
    ? text.replace(/(?<![\p{L}\p{N}])\d{4}-(\d\d)-(\d\d)(?!\d)/gu, (date: string, month: string, day: string) => {
        const name = months[Number(month) - 1]
        return name === undefined ? date : `${date} ${name} ${Number(day)} `
      })
    : text

/** Applied only if at least `stay` letters remain. */
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

/** `planned` comes from `plan`, but `added` from `add`. */
const undouble = (word: string): string => word.replace(/(?<=..)([bdfgkmnprt])\1$/, "$1")

const verbOf = (word: string): string | undefined => {
  if (/^..+ied$/.test(word)) return word.replace(/ied$/, "y")
  if (word.endsWith("eed")) return vowel.test(word.slice(0, -3)) ? word.slice(0, -1) : undefined
  const found = cut(word, "ing", 3) ?? cut(word, "ed", 3)
  return found === undefined ? undefined : undouble(found)
}

/** Variants of spelling: `colour` and `color`, `organise` and `organize`, `centre` and `center`, `travelled`. */
const spelled = (word: string): string => {
  if (word.endsWith("ll")) return word.replace(/([aeiouy][^aeiouy]+[aeiouy]l)l$/, "$1")
  if (word.endsWith("re")) return word.replace(/([bt])re$/, "$1er")
  if (word.indexOf("our") > 2) return word.replace(/(?<=...)our/, "or")
  return word.indexOf("z") > 3 ? word.replace(/(?<=...[iy])z(?=e?$|ation|er$)/, "s") : word
}

const stem = (word: string): string => {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  const one = singular(word)
  const base = baseForms.get(one)
  if (base !== undefined) return stem(base)
  const out = spelled(verbOf(one) ?? cut(one, "ly", 4) ?? one)
  return out.length > 3 ? out.replace(/e$/, "").replace(/y$/, "i") : out
}

/** An ordinal or a version number becomes the number. */
const numeral = /^v?(\d+)(?:st|nd|rd|th)?$/

const termOf = (word: string): string => numeral.exec(word)?.[1] ?? stem(baseForms.get(word) ?? word)

/** The word before `n't` has no meaning, and neither have one or two letters after an apostrophe. */
const apart = (run: string): ReadonlyArray<string> => {
  const [first = "", ...tails] = run.split("'")
  const words = tails[0]?.toLowerCase() === "t" ? [] : [first]
  return [...words, ...tails.filter((tail) => tail.length > 2)]
}

const pairsOf = (run: string): ReadonlyArray<string> => {
  const letters = [...run]
  return letters.length < 2 ? letters : letters.slice(1).map((letter, at) => letters[at]! + letter)
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

const runsOf = (text: string): ReadonlyArray<string> =>
  (text.match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? []).flatMap(apart).filter((word) => word !== "")

/** The words of a text in lower case and without diacritics; with stop words, not stemmed. */
const wordsOf = (text: string): ReadonlyArray<string> => runsOf(unmarked(text).toLowerCase())

/** A compound name, and a number with its unit, are also found by their parts: `maxPoolSize`, `HTTPServer`, `16GB`. */
const joints = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})|(?<=^\d+)(?=\p{L}{1,3}$)/u
const unit = /^\d+(?!(?:st|nd|rd|th)$)\p{L}{1,3}$/u

const partsOf = (word: string, lower: string): ReadonlyArray<string> =>
  (word !== lower && word.slice(1) !== lower.slice(1)) || (word < ":" && unit.test(word))
    ? word.split(joints).flatMap((part) => (part.length > 1 && part !== word ? part.toLowerCase() : []))
    : []

const startsWithDigit = (run = ""): boolean => run !== "" && run[0]! >= "0" && run[0]! <= "9"

export const termsOf = (text: string): ReadonlyArray<string> => {
  const runs = runsOf(withDates(unmarked(text)))
  const terms: Array<string> = []
  const add = (word: string): void => {
    if (!stopWords.has(word)) terms.push(termOf(word))
  }
  for (const [at, run] of runs.entries()) {
    const short = run.length <= longest ? run : [...run].slice(0, longest).join("")
    const lower = short.toLowerCase()
    if (unspaced.test(lower)) {
      terms.push(...pairsOf(lower))
      continue
    }
    add(lower)
    for (const part of partsOf(short, lower)) add(part)
    // An abbreviated month is next to a number; elsewhere it may be a name.
    const month = lower.length <= 4 ? shortMonths.get(lower) : undefined
    if (month !== undefined && (startsWithDigit(runs[at - 1]) || startsWithDigit(runs[at + 1]))) add(month)
  }
  return terms
}

/** A word of a text, where it begins, and its terms. */
export interface Word {
  readonly word: string
  readonly at: number
  readonly terms: ReadonlyArray<string>
}

/** The words of a text with their positions, to show why it was found. Each distinct word is processed once. */
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

/** A leading `Name:`, as in chat transcripts: the speaker is a label, not part of the text. */
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

/** How similar two words are, by the trigrams they share: 0 to 1. */
export const likeness = (one: string, other: string): number => {
  const [mine, theirs] = [trigrams(one), trigrams(other)]
  const shared = [...mine].filter((run) => theirs.has(run)).length
  return shared / (mine.size + theirs.size - shared)
}

/** The quoted phrases of a question. */
export const phrasesOf = (question: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...question.matchAll(/["\u201c\u201d]([^"\u201c\u201d]{1,400})["\u201c\u201d]/g)]
    .map(([, phrase]) => wordsOf(phrase ?? ""))
    .filter((phrase) => phrase.length > 0)

/** Whether a text contains the words of a phrase in this order, with nothing between them. */
export const holdsPhrase = (text: string, phrase: ReadonlyArray<string>): boolean =>
  ` ${wordsOf(text).join(" ")} `.includes(` ${phrase.join(" ")} `)
