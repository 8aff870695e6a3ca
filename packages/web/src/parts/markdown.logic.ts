/** Message text as tokens: Markdown without raw HTML. No HTML string exists, so there is nothing to sanitise. */
import { marked, type Token } from "marked"
import remend from "remend"

const lexed = new Map<string, ReadonlyArray<Token>>()
const most = 2000

/** Text that is still being written is closed first, so that half a table never flashes. */
export const tokensOf = (text: string, isWhole = true): ReadonlyArray<Token> => {
  const known = lexed.get(text)
  if (known !== undefined) return known
  const tokens = marked.lexer(isWhole ? text : remend(text), { gfm: true, breaks: true })
  if (!isWhole) return tokens
  if (lexed.size >= most) lexed.delete(lexed.keys().next().value!)
  lexed.set(text, tokens)
  return tokens
}

/** Where a link may lead: other sites, mail, and pages of this house. */
export const safeHref = (href: string): string | undefined =>
  /^(?:https?:\/\/|mailto:)/i.test(href) || /^\/(?![/\\])/.test(href) ? href : undefined

export interface Piece {
  readonly text: string
  readonly mention?: string
}

/** A text with the mentions in it taken apart; the longest name that fits is meant. */
export const piecesOf = (text: string, names: ReadonlyArray<string>): ReadonlyArray<Piece> => {
  if (!text.includes("@") || names.length === 0) return [{ text }]
  const sorted = names.toSorted((a, b) => b.length - a.length)
  const pieces: Array<Piece> = []
  let from = 0
  for (const { index } of text.matchAll(/@/g)) {
    if (index < from || /[\p{L}\p{N}_]/u.test(text[index - 1] ?? " ")) continue
    const rest = text.slice(index + 1)
    const name = sorted.find(
      (one) => rest.toLowerCase().startsWith(one.toLowerCase()) && !/^[\p{L}\p{N}_]/u.test(rest.slice(one.length)),
    )
    if (name === undefined) continue
    if (index > from) pieces.push({ text: text.slice(from, index) })
    from = index + 1 + name.length
    pieces.push({ text: text.slice(index, from), mention: name })
  }
  if (from < text.length) pieces.push({ text: text.slice(from) })
  return pieces
}
