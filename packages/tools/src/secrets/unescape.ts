/**
 * Removes one layer of escapes from a text: percent-encoding, JSON and HTML. Pure; it reports the original position of
 * each character.
 */

export interface Unescaped {
  readonly text: string
  /** Where each unit of `text` begins in the original; one more for the end. */
  readonly starts: Int32Array
}

const marks = /[%\\&]/
const short: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", "0": "\0" }
const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

const hexAt = (text: string, at: number, digits: number): number => {
  let value = 0
  for (let n = at; n < at + digits; n++) {
    const code = text.charCodeAt(n)
    const digit = code >= 48 && code <= 57 ? code - 48 : (code | 32) >= 97 && (code | 32) <= 102 ? (code | 32) - 87 : -1
    if (digit === -1) return -1
    value = value * 16 + digit
  }
  return value
}

type Found = readonly [units: string, length: number]

/** Percent-encoded bytes are decoded as UTF-8 if possible, otherwise each is the character with that code. */
const percentAt = (text: string, at: number): Found | undefined => {
  const first = hexAt(text, at + 1, 2)
  if (first === -1) return undefined
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0
  let point = more === 0 ? first : first & (0x3f >> more)
  for (let n = 1; n <= more; n++) {
    const next = text[at + 3 * n] === "%" ? hexAt(text, at + 3 * n + 1, 2) : -1
    if (next === -1 || (next & 0xc0) !== 0x80) return [String.fromCharCode(first), 3]
    point = (point << 6) | (next & 0x3f)
  }
  return point > 0x10ffff ? [String.fromCharCode(first), 3] : [String.fromCodePoint(point), 3 * (more + 1)]
}

const backslashAt = (text: string, at: number): Found | undefined => {
  const sign = text[at + 1]
  if (sign === undefined) return undefined
  const digits = sign === "u" ? 4 : sign === "x" ? 2 : 0
  const code = digits === 0 ? -1 : hexAt(text, at + 2, digits)
  if (code !== -1) return [String.fromCharCode(code), digits + 2]
  return [short[sign] ?? sign, 2]
}

/** A parser of HTML reads a number without its semicolon too, and any number of zeros before it. */
const entity = /&(?:#0*(\d{1,7});?|#[xX]0*([0-9a-fA-F]{1,6});?|(amp|lt|gt|quot|apos|nbsp);)/y
const entityAt = (text: string, at: number): Found | undefined => {
  entity.lastIndex = at
  const found = entity.exec(text)
  if (found === null) return undefined
  const [whole, decimal, hex, name] = found
  if (name !== undefined) return [named[name]!, whole.length]
  const point = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
  return point > 0x10ffff ? undefined : [String.fromCodePoint(point), whole.length]
}

/** Undefined if nothing is escaped. */
export const unescaped = (text: string): Unescaped | undefined => {
  if (!marks.test(text)) return undefined
  const starts = new Int32Array(text.length + 1)
  const parts: Array<string> = []
  let size = 0
  let copied = 0
  const copy = (end: number) => {
    if (end > copied) parts.push(text.slice(copied, end))
    for (let n = copied; n < end; n++) starts[size++] = n
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const found =
      code === 37
        ? percentAt(text, at)
        : code === 92
          ? backslashAt(text, at)
          : code === 38
            ? entityAt(text, at)
            : undefined
    if (found === undefined) continue
    copy(at)
    const [units, length] = found
    parts.push(units)
    for (let n = 0; n < units.length; n++) starts[size++] = at
    copied = at + length
    at = copied - 1
  }
  if (parts.length === 0) return undefined
  copy(text.length)
  starts[size] = text.length
  return { text: parts.join(""), starts: starts.subarray(0, size + 1) }
}
