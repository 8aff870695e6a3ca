/** The functions an expression may call. All of them are pure. */
import type { Schema } from "effect"
import { fault } from "./expression.ts"

type Json = Schema.Json
/** Charges work that grows with the values; fails when the budget is spent. */
export type Spend = (work: number) => void

export interface BuiltIn {
  readonly least: number
  readonly most: number
  readonly run: (given: ReadonlyArray<Json>, spend: Spend) => Json
}

export const kindOf = (value: Json): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`

export const numberOf = (value: Json | undefined, who: string): number =>
  typeof value === "number" ? value : fault(`${who} takes numbers, but got ${kindOf(value ?? null)}`)
const wordsOf = (value: Json | undefined, who: string): string =>
  typeof value === "string" ? value : fault(`${who} takes text, but got ${kindOf(value ?? null)}`)
const listOf = (value: Json | undefined, who: string): ReadonlyArray<Json> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>) : fault(`${who} takes a list, but got ${kindOf(value ?? null)}`)
const wholeOf = (value: Json | undefined, who: string): number => {
  const number = numberOf(value, who)
  return Number.isInteger(number) ? number : fault(`${who} takes whole numbers, but got ${number}`)
}

/** Longer than any useful text. */
const longest = 1 << 20
/** A text that was just made: charges for it, and limits its length. */
export const newText = (text: string, spend: Spend): string => {
  if (text.length > longest) fault(`a text would have more than ${longest} characters`)
  spend(text.length / 32)
  return text
}

/** Functions of one number. */
const plain = [
  "abs",
  "acos",
  "asin",
  "atan",
  "cbrt",
  "ceil",
  "cos",
  "exp",
  "floor",
  "log",
  "log10",
  "log2",
  "sign",
  "sin",
  "sqrt",
  "tan",
  "trunc",
] as const

const simple = (name: (typeof plain)[number]): readonly [string, BuiltIn] => [
  name,
  { least: 1, most: 1, run: ([value]) => Math[name](numberOf(value, name)) },
]

/** Functions of several number arguments, or of one list of numbers. */
const overall = (name: string, of: (numbers: ReadonlyArray<number>) => number): readonly [string, BuiltIn] => [
  name,
  {
    least: 1,
    most: 10_000,
    run: (given, spend) => {
      const items = given.length === 1 && Array.isArray(given[0]) ? listOf(given[0], name) : given
      spend(items.length)
      if (items.length === 0) fault(`${name} of nothing is not a number`)
      return of(items.map((item) => numberOf(item, name)))
    },
  },
]
const total = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, it) => sum + it, 0)

const listed = (name: string, least: number, most: number, run: BuiltIn["run"]): readonly [string, BuiltIn] => [
  name,
  { least, most, run },
]
const onText = (name: string, run: (text: string) => string) =>
  listed(name, 1, 1, ([value], spend) => newText(run(newText(wordsOf(value, name), spend)), spend))

export const functions: ReadonlyMap<string, BuiltIn> = new Map([
  ...plain.map(simple),
  overall("min", (numbers) => numbers.reduce((least, it) => Math.min(least, it))),
  overall("max", (numbers) => numbers.reduce((most, it) => Math.max(most, it))),
  overall("sum", total),
  overall("avg", (numbers) => total(numbers) / numbers.length),
  overall("hypot", (numbers) => numbers.reduce((length, it) => Math.hypot(length, it), 0)),
  listed("pow", 2, 2, ([base, power]) => numberOf(base, "pow") ** numberOf(power, "pow")),
  listed("atan2", 2, 2, ([y, x]) => Math.atan2(numberOf(y, "atan2"), numberOf(x, "atan2"))),
  listed("round", 1, 2, ([value, digits = 0]) => {
    const places = wholeOf(digits, "round")
    if (places < 0 || places > 15) fault("round takes 0 to 15 digits")
    const number = numberOf(value, "round")
    return places === 0 ? Math.round(number) : Number(number.toFixed(places))
  }),
  onText("upper", (text) => text.toUpperCase()),
  onText("lower", (text) => text.toLowerCase()),
  onText("trim", (text) => text.trim()),
  listed("len", 1, 1, ([value = null]) =>
    typeof value === "string" || Array.isArray(value)
      ? value.length
      : fault(`len takes text or a list, but got ${kindOf(value)}`),
  ),
  listed("slice", 2, 3, ([value = null, from, to], spend) => {
    const [start, end] = [wholeOf(from, "slice"), to === undefined ? undefined : wholeOf(to, "slice")]
    if (typeof value === "string") return newText(value.slice(start, end), spend)
    const items = listOf(value, "slice").slice(start, end)
    spend(items.length)
    return items
  }),
  listed("contains", 2, 2, ([value = null, wanted = null], spend) => {
    if (typeof value === "string") return newText(value, spend).includes(wordsOf(wanted, "contains"))
    if (typeof wanted === "object" && wanted !== null) fault("contains looks for text, a number, a boolean or null")
    const items = listOf(value, "contains")
    spend(items.length)
    return items.includes(wanted)
  }),
  listed("startsWith", 2, 2, ([value, start]) => wordsOf(value, "startsWith").startsWith(wordsOf(start, "startsWith"))),
  listed("endsWith", 2, 2, ([value, end]) => wordsOf(value, "endsWith").endsWith(wordsOf(end, "endsWith"))),
  listed("split", 2, 2, ([value, by], spend) => {
    const text = wordsOf(value, "split")
    spend(text.length)
    return text.split(wordsOf(by, "split"))
  }),
  listed("join", 1, 2, ([value, by = ""], spend) => {
    const items = listOf(value, "join")
    const between = wordsOf(by, "join")
    // Computed before the text is made: a million times a million would not fit.
    const length = items.reduce<number>(
      (sum, it) => sum + between.length + (typeof it === "string" ? it.length : 25),
      0,
    )
    if (length > longest) fault(`a text would have more than ${longest} characters`)
    return newText(items.map((item) => textOf(item, spend)).join(between), spend)
  }),
  listed("number", 1, 1, ([value = null]) => {
    const text = typeof value === "string" ? value.trim() : ""
    if (typeof value === "number") return value
    return /^[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?$/.test(text)
      ? Number(text)
      : fault(`${text.length > 0 ? `"${text.slice(0, 40)}"` : kindOf(value)} is not a number`)
  }),
  listed("text", 1, 1, ([value = null], spend) => textOf(value, spend)),
])

/** A value inside a text; only values that have one obvious text form. */
export const textOf = (value: Json, spend: Spend): string => {
  if (typeof value === "string") return newText(value, spend)
  if (typeof value === "object" && value !== null) return fault(`${kindOf(value)} is not text; join a list`)
  return String(value)
}

export const functionNames: ReadonlySet<string> = new Set(functions.keys())
