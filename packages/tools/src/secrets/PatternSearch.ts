/**
 * Finds every occurrence of many patterns of one length, in one pass that skips most of a text: if two adjacent
 * characters occur in no pattern, no match can contain both (Wu and Manber). Pure.
 */

const pair = (one: number, other: number): number => (Math.imul(one, 0x1_01) + other) & 0xff_ff

export class PatternSearch {
  readonly #patterns: ReadonlySet<string>
  readonly #length: number
  /** By the last two characters of a place: the minimal distance to the next one. */
  readonly #skip: Uint8Array

  constructor(length: number, patterns: ReadonlySet<string>) {
    this.#patterns = patterns
    this.#length = length
    this.#skip = new Uint8Array(patterns.size === 0 ? 0 : 0x1_00_00).fill(length - 1)
    for (const pattern of patterns)
      for (let n = 1; n < length; n++) {
        const at = pair(pattern.charCodeAt(n - 1), pattern.charCodeAt(n))
        const step = length - 1 - n
        if (this.#skip[at]! > step) this.#skip[at] = step
      }
  }

  /** In order; they may overlap. */
  find(text: string, found: (begin: number, end: number) => void): void {
    if (this.#patterns.size === 0) return
    const skip = this.#skip
    const length = this.#length
    for (let last = length - 1; last < text.length;) {
      const step = skip[pair(text.charCodeAt(last - 1), text.charCodeAt(last))]!
      if (step > 0) last += step
      else {
        last++
        if (this.#patterns.has(text.slice(last - length, last))) found(last - length, last)
      }
    }
  }
}
