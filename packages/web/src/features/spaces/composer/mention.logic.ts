/** The mention being typed at the caret, and whom it may mean: members first, then those who could be invited. */
export interface Mentionable {
  readonly name: string
  readonly kind: string
  readonly isHere: boolean
}

/** The part after the last @ before the caret, if a mention is being typed there. */
export const mentionAt = (
  text: string,
  caret: number,
): { readonly from: number; readonly part: string } | undefined => {
  const before = text.slice(0, caret)
  const from = before.lastIndexOf("@")
  if (from === -1 || /[\p{L}\p{N}_]/u.test(before[from - 1] ?? " ")) return undefined
  const part = before.slice(from + 1)
  return /\n|\s{2}/.test(part) || part.length > 40 ? undefined : { from, part }
}

export const matchMentions = (all: ReadonlyArray<Mentionable>, part: string, most = 8): ReadonlyArray<Mentionable> => {
  const asked = part.toLowerCase()
  const fits = all.filter(({ name }) => name.toLowerCase().includes(asked))
  const rank = ({ isHere, name }: Mentionable) => (isHere ? 0 : 2) + (name.toLowerCase().startsWith(asked) ? 0 : 1)
  return fits.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, most)
}

/** The text with the mention completed, and the new position of the caret. */
export const insertMention = (text: string, from: number, caret: number, name: string) => {
  const written = `${text.slice(0, from)}@${name} `
  return { text: written + text.slice(caret).replace(/^ /, ""), caret: written.length }
}
