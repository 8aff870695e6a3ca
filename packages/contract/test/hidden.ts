/** The code points a reader cannot see, told apart by their own table and not by the pattern under test. */
const ranges: ReadonlyArray<readonly [number, number]> = [
  [0x00, 0x1f], // C0
  [0x7f, 0x9f], // DEL and C1
  [0xad, 0xad], // soft hyphen
  [0x34f, 0x34f], // combining grapheme joiner
  [0x600, 0x605], // signs that enclose digits
  [0x61c, 0x61c], // Arabic letter mark
  [0x6dd, 0x6dd],
  [0x70f, 0x70f],
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5],
  [0x180b, 0x180f], // Mongolian selectors and vowel separator
  [0x200b, 0x200f], // zero width, marks of direction
  [0x2028, 0x202e], // separators, embeddings, overrides
  [0x2060, 0x206f], // word joiner, isolates, deprecated formats
  [0x3164, 0x3164],
  [0xd800, 0xdfff], // lone surrogates
  [0xfe00, 0xfe0f], // variation selectors
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x110bd, 0x110bd],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff], // tags, variation selectors supplement
]

export const hiddenCodePoints = (): ReadonlyArray<number> =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n))

/** Whether a text has one of them. Lines that a face itself breaks are given to it one by one. */
export const hides = (text: string): boolean =>
  [...text].some((sign) => {
    const point = sign.codePointAt(0)!
    return ranges.some(([first, last]) => first <= point && point <= last)
  })
