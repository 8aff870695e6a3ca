/** A guide in pieces that are drawn one by one, with links to pages of this house. Pure. */
const link = /\]\((?:\.\.?\/)?(?:user\/|operations\/)?([a-z-]+)\.md(?:#[^)]*)?\)/g

/** The title, and the text under each heading: parsing a whole guide at once would take too long. */
export const piecesOf = (markdown: string): { readonly title: string; readonly pieces: ReadonlyArray<string> } => {
  const [, title = "", rest = markdown] = /^# (.*)\n([\s\S]*)$/.exec(markdown) ?? []
  const pieces = rest
    .replaceAll(link, "](/help/$1)")
    .split(/^(?=#{2,3} )/m)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "")
  return { title, pieces }
}
