/**
 * The patterns that find a secret: any eight consecutive characters of it, plain, in base64 at each of its three
 * alignments, or in hexadecimal. Escapes are removed from the text before the search. Pure.
 */
import { readingsOf } from "./readings.ts"
import { Windows } from "./Windows.ts"

/** This many consecutive characters count as a piece of a secret. */
export const run = 8
/** Of eight bytes in base64, this many characters depend on them alone. */
const inBase64 = 10
const inHex = 2 * run
/** Eight characters with fewer different ones (dashes, spaces, zeros) occur everywhere and reveal nothing. */
const fewest = 4
/** A longer one is not searched in two encodings at once. */
const longest = 512

const isVaried = (at: (n: number) => unknown, from: number): boolean => {
  let different = 0
  for (let n = 0; n < run; n++) {
    let known = false
    for (let other = 0; other < n && !known; other++) known = at(from + other) === at(from + n)
    if (!known) different++
  }
  return different >= fewest
}

/** The starts of all distinctive runs of eight; if there are none, of all runs. */
const runsIn = (length: number, at: (n: number) => unknown): ReadonlyArray<number> => {
  const all = Array.from({ length: Math.max(0, length - run + 1) }, (_, n) => n)
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
  for (const n of runsIn(reading.length, (at) => reading.charCodeAt(at))) into.add(reading.slice(n, n + run))
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

export interface Writings {
  readonly plain: Windows
  readonly base64: Windows
  /** In lower case. */
  readonly hex: Windows
}

export const writingsOf = (secrets: Iterable<string>): Writings => {
  const [plain, base64, hex] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const secret of secrets) {
    const readings = readingsOf(secret)
    for (const reading of readings) addPlain(reading, plain)
    const [first = ""] = readings
    for (const text of encodedOf(first)) {
      const bytes = Buffer.from(text)
      const runs = runsIn(bytes.length, (at) => bytes[at])
      addBase64(bytes, runs, base64)
      addHex(bytes, runs, hex)
    }
  }
  return { plain: new Windows(run, plain), base64: new Windows(inBase64, base64), hex: new Windows(inHex, hex) }
}
