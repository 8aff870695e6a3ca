/**
 * Estimates how many tokens a text has before a model has counted it. Every model counts differently, and reports the
 * count only with its answer. Pure.
 */

/** The context window of a model if none is declared. */
export const usualWindow = 100_000

/** The most tokens that a model is taken to answer with if its `maxOutput` is not declared. */
export const usualOutput = 32_000

/** For cases where too many tokens would fail: right for text, and conservative for JSON. */
export const carefulLettersPerToken = 3

/**
 * English and code: about four letters per token. Non-ASCII letters: about two; Chinese, Japanese and Korean characters
 * and emoji: one each.
 */
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

/** The beginning of a text that is estimated at no more than so many tokens, never ending within a character. */
export const cutToTokens = (text: string, tokens: number): string => {
  // No character counts for more than one token.
  if (tokens <= 0) return ""
  if (text.length <= tokens) return text
  let [sum, end] = [0, 0]
  for (const sign of text) {
    const code = sign.codePointAt(0)!
    sum += weights.find(([below]) => code < below)![1]
    if (sum > tokens) return text.slice(0, end)
    end += sign.length
  }
  return text
}

/** The most characters that fit into so many tokens: what is read of a text before it is looked at. */
export const lettersFor = (tokens: number): number => Math.max(0, Math.floor(tokens * 4))
