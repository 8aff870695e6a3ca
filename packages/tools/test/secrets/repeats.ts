/** Secrets drawn at random, and the ways in which whoever got one may say it again: which part, how written, where cut. */
import fc from "fast-check"

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"]
const from = (characters: ReadonlyArray<string>, minLength: number, maxLength: number) =>
  fc
    .array(fc.constantFrom(...characters), { minLength, maxLength })
    .map((it) => it.join(""))
    // What is said over and over is no secret: eight of it stand in many a text.
    .filter((it) =>
      Array.from({ length: it.length - 7 }, (_, n) => new Set(it.slice(n, n + 8)).size).every((n) => n > 3),
    )

/** Such as a header may hold. */
const ascii = fc.oneof(
  from([...letters, "-", "_"], 8, 60),
  from([...letters, ..."+/=!$&'()*,;:@~.\"\\%<>^`{|}#?"], 12, 40),
)
export const secrets = fc.oneof(
  ascii,
  from([...letters, ...' +/="\\%'], 12, 40),
  from([...letters, ..."äöüßéñπж漢字😀"], 12, 30),
)

const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const encodings = {
  plain: (text: string) => text,
  base64: (text: string) => Buffer.from(text).toString("base64"),
  base64url: (text: string) => Buffer.from(text).toString("base64url"),
  hex: (text: string) => Buffer.from(text).toString("hex"),
  HEX: (text: string) => Buffer.from(text).toString("hex").toUpperCase(),
  percent,
  PERCENT: (text: string) => percent(text).toUpperCase(),
  address: (text: string) => encodeURIComponent(text.toWellFormed()),
  form: (text: string) => new URLSearchParams({ x: text }).toString().slice(2),
  escapes: (text: string) =>
    Array.from({ length: text.length }, (_, n) => `\\u${text.charCodeAt(n).toString(16).padStart(4, "0")}`).join(""),
  references: (text: string) => Array.from(text, (sign) => `&#x${sign.codePointAt(0)!.toString(16)};`).join(""),
  bare: (text: string) => Array.from(text, (sign) => `&#${sign.codePointAt(0)}`).join(""),
  zeros: (text: string) => Array.from(text, (sign) => `&#000000${sign.codePointAt(0)}`).join(""),
  json: (text: string) => JSON.stringify(text).slice(1, -1),
  jsonTwice: (text: string) => JSON.stringify(JSON.stringify(text)).slice(1, -1),
}

export interface Repeat {
  readonly secret: string
  readonly how: keyof typeof encodings
  /** Which part of it, eight characters or more, and what stands around that. */
  readonly first: number
  readonly more: number
  readonly before: string
  readonly after: string
  readonly cuts: ReadonlyArray<number>
}

const repeatsOf = (secret: fc.Arbitrary<string>): fc.Arbitrary<Repeat> =>
  fc.record({
    secret,
    how: fc.constantFrom(...(Object.keys(encodings) as Array<keyof typeof encodings>)),
    first: fc.nat(),
    more: fc.nat(),
    before: fc.stringMatching(/^[a-z ]{0,5}$/),
    after: fc.stringMatching(/^[a-z ]{0,5}$/),
    cuts: fc.array(fc.nat(), { maxLength: 8 }),
  })
export const repeats = repeatsOf(secrets)
export const headerRepeats = repeatsOf(ascii)

/** A key as it is said again. */
export const textOf = ({ after, before, first, how, more }: Repeat, key: string): string => {
  const length = 8 + (more % Math.max(1, key.length - 7))
  const begin = first % Math.max(1, key.length - length + 1)
  return encodings[how](`${before}${key.slice(begin, begin + length).toWellFormed()}${after}`)
}

export const partsOf = (one: Repeat, key: string): ReadonlyArray<string> => {
  const text = textOf(one, key)
  const places = [...new Set(one.cuts.map((n) => n % (text.length + 1)))].toSorted((a, b) => a - b)
  return [0, ...places].map((begin, n) => text.slice(begin, places[n] ?? text.length)).filter((it) => it !== "")
}
