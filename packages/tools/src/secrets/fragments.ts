/**
 * The patterns that find a secret: any eight consecutive characters of it, plain, in base64 at each of its three
 * alignments, or in hexadecimal. Escapes are removed from the text before the search. Pure.
 */
import { variantsOf } from "./variants.ts"
import { PatternSearch } from "./PatternSearch.ts"

/** This many consecutive characters count as a piece of a secret. */
export const fragmentLength = 8
/** Of eight bytes in base64, this many characters depend on them alone. */
const inBase64 = 10
const inHex = 2 * fragmentLength
/** Eight characters with fewer different ones (dashes, spaces, zeros) occur everywhere and reveal nothing. */
const fewest = 4
/** A longer one is not searched in two encodings at once. */
const longest = 512

const isVaried = (at: (n: number) => unknown, from: number): boolean => {
  let different = 0
  for (let n = 0; n < fragmentLength; n++) {
    let known = false
    for (let other = 0; other < n && !known; other++) known = at(from + other) === at(from + n)
    if (!known) different++
  }
  return different >= fewest
}

/** The starts of all distinctive runs of eight; if there are none, of all runs. */
const runsIn = (length: number, at: (n: number) => unknown): ReadonlyArray<number> => {
  const all = Array.from({ length: Math.max(0, length - fragmentLength + 1) }, (_, n) => n)
  const varied = all.filter((from) => isVaried(at, from))
  return varied.length === 0 ? all : varied
}

const escape = (text: string): string => JSON.stringify(text).slice(1, -1)

/** How a value may be transformed before its bytes are encoded. */
const encodedOf = (reading: string): ReadonlySet<string> => {
  const text = reading.toWellFormed()
  const bytes = Buffer.from(text)
  const twice = bytes.length > longest ? [] : [bytes.toString("base64"), bytes.toString("hex")]
  return new Set([text, escape(text), encodeURIComponent(text), ...twice])
}

const addPlain = (reading: string, into: Set<string>): void => {
  for (const n of runsIn(reading.length, (at) => reading.charCodeAt(at))) into.add(reading.slice(n, n + fragmentLength))
}

const addBase64 = (bytes: Buffer, runs: ReadonlyArray<number>, into: Set<string>): void => {
  for (const pad of [0, 1, 2])
    for (const code of ["base64", "base64url"] as const) {
      const text = Buffer.concat([Buffer.alloc(pad), bytes]).toString(code)
      for (const n of runs) {
        const from = Math.ceil(((n + pad) * 8) / 6)
        into.add(text.slice(from, from + inBase64))
      }
    }
}

const addHex = (bytes: Buffer, runs: ReadonlyArray<number>, into: Set<string>): void => {
  const text = bytes.toString("hex")
  for (const n of runs) into.add(text.slice(2 * n, 2 * n + inHex))
}

export interface Fragments {
  readonly plain: PatternSearch
  readonly base64: PatternSearch
  /** In lower case. */
  readonly hex: PatternSearch
}

export const fragmentsOf = (secrets: Iterable<string>): Fragments => {
  const [plain, base64, hex] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const secret of secrets) {
    const readings = variantsOf(secret)
    for (const reading of readings) addPlain(reading, plain)
    const [first = ""] = readings
    for (const text of encodedOf(first)) {
      const bytes = Buffer.from(text)
      const runs = runsIn(bytes.length, (at) => bytes[at])
      addBase64(bytes, runs, base64)
      addHex(bytes, runs, hex)
    }
  }
  return {
    plain: new PatternSearch(fragmentLength, plain),
    base64: new PatternSearch(inBase64, base64),
    hex: new PatternSearch(inHex, hex),
  }
}
