/**
 * Text to terms: the one function that reads records and questions alike, so that what was written and what is asked meet.
 * A term holds letters and digits only; both databases take it as it is. Pure.
 */
import { baseForms, months, shortMonths, stopWords } from "./words.ts"

const longest = 40
const vowel = /[aeiouy]/

/** Without marks and with one apostrophe; capitals stay. */
const unmarked = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[\u2018\u2019\u02bc\uff07`]/g, "'")

/** A date in figures is said in words too, so that `2026-02-03` is found by `February 3`. */
const withDates = (text: string): string =>
  /\d{4}-\d\d-\d\d/.test(text)
    ? text.replace(/(?<![\p{L}\p{N}])\d{4}-(\d\d)-(\d\d)(?!\d)/gu, (date: string, month: string, day: string) => {
        const name = months[Number(month) - 1]
        return name === undefined ? date : `${date} ${name} ${Number(day)} `
      })
    : text

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

/** `planned` is of `plan`, but `added` of `add`. */
const undouble = (word: string): string => word.replace(/(?<=..)([bdfgkmnprt])\1$/, "$1")

const verbOf = (word: string): string | undefined => {
  if (/^..+ied$/.test(word)) return word.replace(/ied$/, "y")
  if (word.endsWith("eed")) return vowel.test(word.slice(0, -3)) ? word.slice(0, -1) : undefined
  const found = cut(word, "ing", 3) ?? cut(word, "ed", 3)
  return found === undefined ? undefined : undouble(found)
}

/** What is written in two ways: `colour` and `color`, `organise` and `organize`, `centre` and `center`, `travelled`. */
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

/** A number in order, or of a version, is the number. */
const numeral = /^v?(\d+)(?:st|nd|rd|th)?$/

const termOf = (word: string): string => numeral.exec(word)?.[1] ?? stem(baseForms.get(word) ?? word)

/** What stands before `n't` says nothing, one or two letters after an apostrophe neither. */
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

/** The words of a text as they were written, folded: no stop words dropped, nothing stemmed. */
const wordsOf = (text: string): ReadonlyArray<string> => runsOf(unmarked(text).toLowerCase())

/** A name made of words, and a number with its unit, are found by their parts too: `maxPoolSize`, `HTTPServer`, `16GB`. */
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
    // A month that is cut short stands beside a number; anywhere else it may be a name.
    const month = lower.length <= 4 ? shortMonths.get(lower) : undefined
    if (month !== undefined && (startsWithDigit(runs[at - 1]) || startsWithDigit(runs[at + 1]))) add(month)
  }
  return terms
}

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
