/**
 * A text with one layer of encoding removed: escapes, spaces and invisible characters, separators between the numbers
 * of bytes. Each result is the remaining text, with a mapping back to the original positions. Pure.
 */
import { unescaped } from "./unescape.ts"
import { fragmentLength } from "./fragments.ts"

export interface Decoded {
  readonly text: string
  /** Whether it may contain another layer. */
  readonly goesOn: boolean
  /** Maps positions back to the original text; used only if something was found. */
  readonly places: () => { readonly begin: (at: number) => number; readonly end: (at: number) => number }
}

const unescapedIn = function* (text: string): Generator<Decoded> {
  const inner = unescaped(text)
  if (inner === undefined) return
  const { starts } = inner
  yield {
    text: inner.text,
    goesOn: true,
    places: () => ({ begin: (at) => starts[at]!, end: (at) => starts[at]! }),
  }
}

const unseen = "\\s\\0\\u00ad\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufe00-\\ufe0f\\ufeff"
const isUnseen = new RegExp(`[${unseen}]`)
const allUnseen = new RegExp(`[${unseen}]+`, "g")
const allSeen = new RegExp(`[^${unseen}]`, "g")

/** Base64 is broken into lines, and a text may contain invisible characters. */
const closedUp = function* (text: string): Generator<Decoded> {
  if (!isUnseen.test(text)) return
  yield {
    text: text.replaceAll(allUnseen, ""),
    goesOn: false,
    places: () => {
      const seen = Array.from(text.matchAll(allSeen), (it) => it.index)
      return { begin: (at) => seen[at]!, end: (at) => seen[at - 1]! + 1 }
    },
  }
}

/** 73:6b, 73 6b, 0x73, U+0073, and 115, 107. */
const hexRow = /(?:(?:0x|\\x|u\+00)?[0-9a-f]{2}[\s:,;._|\\-]{1,3}){7,}(?:0x|\\x|u\+00)?[0-9a-f]{2}/gi
const decimalRow = /(?:\d{1,3}[\s:,;._|-]{1,3}){7,}\d{1,3}/g
const hexDigits = /(?<=^|[^0-9a-z]|0x|\\x|u\+00)[0-9a-f]{2}(?![0-9a-z])/gi

const rowsIn = function* (text: string, row: RegExp, number: RegExp, base: number): Generator<Decoded> {
  for (const { 0: found, index } of text.matchAll(row)) {
    const numbers = [...found.matchAll(number)]
    yield {
      text: Buffer.from(numbers.map((it) => Math.min(255, Number.parseInt(it[0], base)))).toString("latin1"),
      goesOn: true,
      places: () => ({
        begin: (at) => index + numbers[at]!.index,
        end: (at) => index + numbers[at - 1]!.index + numbers[at - 1]![0].length,
      }),
    }
  }
}

export const decodedIn = function* (text: string, isWhole: boolean): Generator<Decoded> {
  if (text.length < fragmentLength) return
  yield* unescapedIn(text)
  if (!isWhole) return
  yield* closedUp(text)
  yield* rowsIn(text, hexRow, hexDigits, 16)
  yield* rowsIn(text, decimalRow, /\d+/g, 10)
}
