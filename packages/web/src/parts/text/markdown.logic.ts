/** Message text as tokens: Markdown without raw HTML. No HTML string exists, so there is nothing to sanitise. */
import { marked, type Token } from "marked"
import remend from "remend"

/** Longer or deeper texts are shown as plain text: parsing them would block everybody who opens the space. */
const longest = 20_000
const deepest = 50
const maxSigns = 500

const plain = (text: string): ReadonlyArray<Token> => [
  { type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text }] },
]

/** What would take long: very deep quotes, or very many characters that may open or close something. */
const isHeavy = (text: string): boolean =>
  text.length > longest ||
  new RegExp(`^(?:[ \\t]*(?:>|[-*+]|\\d+[.)])){${deepest}}`, "m").test(text) ||
  /\S{2000}/.test(text) ||
  (text.match(/[[\]*_~`<]/g)?.length ?? 0) > maxSigns

const lexer = (text: string): ReadonlyArray<Token> => {
  if (isHeavy(text)) return plain(text)
  try {
    return marked.lexer(text, { gfm: true, breaks: true })
  } catch {
    return plain(text)
  }
}

const lexed = new Map<string, ReadonlyArray<Token>>()
const most = 2000

/** Unfinished text is completed first, so that half a table never flashes. */
export const tokensOf = (text: string, isWhole = true): ReadonlyArray<Token> => {
  const known = lexed.get(text)
  if (known !== undefined) return known
  const tokens = lexer(isWhole ? text : text.length > longest ? text : remend(text))
  if (!isWhole) return tokens
  if (lexed.size >= most) lexed.delete(lexed.keys().next().value!)
  lexed.set(text, tokens)
  return tokens
}

export interface TextPart {
  readonly text: string
  readonly mention?: string
}

/** A text split at its mentions; the longest matching name counts. */
export const splitAtMentions = (text: string, names: ReadonlyArray<string>): ReadonlyArray<TextPart> => {
  if (!text.includes("@") || names.length === 0) return [{ text }]
  const sorted = names.toSorted((a, b) => b.length - a.length).map((name) => [name, name.toLowerCase()] as const)
  const longestName = sorted[0]![0].length
  const pieces: Array<TextPart> = []
  let from = 0
  for (const { index } of text.matchAll(/@/g)) {
    if (index < from || /[\p{L}\p{N}_]/u.test(text[index - 1] ?? " ")) continue
    const rest = text.slice(index + 1, index + 3 + longestName)
    const lower = rest.toLowerCase()
    const name = sorted.find(
      ([one, low]) => lower.startsWith(low) && !/^[\p{L}\p{N}_]/u.test(rest.slice(one.length)),
    )?.[0]
    if (name === undefined) continue
    if (index > from) pieces.push({ text: text.slice(from, index) })
    from = index + 1 + name.length
    pieces.push({ text: text.slice(index, from), mention: name })
  }
  if (from < text.length) pieces.push({ text: text.slice(from) })
  return pieces
}
