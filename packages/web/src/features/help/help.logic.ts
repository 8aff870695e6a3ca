/** A guide in pieces that are drawn one by one, with links to pages of this house. Pure. */
const link = /\]\((?:\.\.?\/)?(?:user\/|operations\/)?([a-z-]+)\.md(?:#[^)]*)?\)/g

/** The title, and the text under each heading: parsing a whole guide at once would take too long. */
export const sectionsOf = (markdown: string): { readonly title: string; readonly sections: ReadonlyArray<string> } => {
  const [, title = "", rest = markdown] = /^# (.*)\n([\s\S]*)$/.exec(markdown) ?? []
  const sections = rest
    .replaceAll(link, "](/help/$1)")
    .split(/^(?=#{2,3} )/m)
    .map((section) => section.trim())
    .filter((section) => section !== "")
  return { title, sections }
}
