/** Texts of a prompt, as much of them as there is room for. Pure. */
import { cutToTokens, estimatedTokens } from "../../models/text/Estimate.ts"

/** What follows a text of which only the beginning is told. */
const note = (left: number): string => ` (${left} more characters are not shown)`

/** The beginning of a text, and how much more there is, with `left` that was not read; whole if there is room for it. */
export const shortened = (text: string, tokens: number, left = 0): string => {
  const begun = cutToTokens(text, tokens)
  const rest = text.length - begun.length + left
  return rest === 0 ? text : `${begun}${note(rest)}`
}

/**
 * Several texts with so many tokens in all: the last come first, as they are the newest, and none takes more than half of
 * what there is.
 */
export const shortenedAll = <A extends { readonly text: string; readonly left?: number }>(
  all: ReadonlyArray<A>,
  tokens: number,
): ReadonlyArray<A> => {
  let room = tokens
  const told: Array<A> = []
  for (const one of all.toReversed()) {
    const text = shortened(
      one.text,
      Math.max(0, all.length === 1 ? room : Math.min(room, Math.floor(tokens / 2))),
      one.left,
    )
    room -= estimatedTokens(text)
    told.push(text === one.text ? one : { ...one, text })
  }
  return told.toReversed()
}
