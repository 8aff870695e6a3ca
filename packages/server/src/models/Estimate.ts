/**
 * How many tokens a text is, before a model has counted it. A guess: every model counts in its own way, and says how many there
 * were only after it was asked. Pure.
 */

/** How many tokens a model can be told, where nobody has declared it. */
export const usualWindow = 100_000

/** Where too many would fail: a guess that is right for text and careful for JSON. */
export const carefulLettersPerToken = 3

/** English and code: some four letters a token. Letters beyond ASCII are some two; signs of Chinese, Japanese and Korean and emoji are one each. */
const weights: ReadonlyArray<readonly [below: number, tokens: number]> = [
  [0x80, 1 / 4],
  [0x2e80, 1 / 2],
  [Infinity, 1],
]

export const estimatedTokens = (text: string): number => {
  let sum = 0
  for (const sign of text) {
    const code = sign.codePointAt(0)!
    sum += weights.find(([below]) => code < below)![1]
  }
  return Math.ceil(sum)
}
