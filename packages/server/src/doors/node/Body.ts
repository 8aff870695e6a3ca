/**
 * Limits of a body before it is parsed: depth and number of values. Parsing costs time per value, not per byte: 4 MiB
 * of keys would block the event loop for half a second. One pass over the text, which skips strings.
 */

/** Deeper than any tool's arguments; anything deeper could overflow a recursive walk (as JSON.stringify does). */
export const deepest = 200
/** Items of lists and members of objects, in total. */
export const maxValues = 20_000

/** Names of members, in total: each new name costs the parser as much as ten values. */
export const maxMembers = 10_000

const tooDeep = `is nested more than ${deepest} deep; send it flatter`
const tooManyMembers = (times: number) =>
  `has more than ${maxMembers * times} members of objects; send it in parts, or as lists`
const tooMany = (times: number) => `has more than ${maxValues * times} values; send it in parts, or some of it as text`

/** The end of the string that begins at `from`, or the end of the text. */
const endOfString = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++
    if (slashes % 2 === 0) return at
  }
  return text.length
}

/** What is wrong with it, as the end of a sentence. `times`: how many times the usual number of values is accepted. */
export const bodyFault = (text: string, times = 1): string | undefined => {
  if (text.length <= deepest * 2) return undefined
  let depth = 0
  let values = 1
  let members = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 34:
        at = endOfString(text, at)
        break
      case 44:
        if (++values > maxValues * times) return tooMany(times)
        break
      case 58:
        if (++members > maxMembers * times) return tooManyMembers(times)
        break
      case 91:
      case 123:
        if (++depth > deepest) return tooDeep
        if (++values > maxValues * times) return tooMany(times)
        break
      case 93:
      case 125:
        depth--
    }
  }
  return undefined
}

/** A NUL, literal or escaped: Postgres cannot store one, so neither database gets one. */
const nul = /\0|(?<!\\)(?:\\\\)*\\u0000/
export const hasNul = (text: string): boolean => (text.includes("\\u0000") || text.includes("\0")) && nul.test(text)
