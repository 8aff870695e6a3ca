/**
 * Who is mentioned: `@` and a member's name. Stated rules, because models and people write all sorts of things:
 * names are compared without regard to case and width, the longest name that fits wins, a name ends where no letter or
 * digit follows, and nothing counts inside code or inside an e-mail address.
 */

export interface Named<Id> {
  readonly id: Id
  readonly name: string
}

/** Same length in, same length out: places in the folded text are places in the text. */
const fold = (text: string): string =>
  [...text].map((char) => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join("")

const word = /[\p{L}\p{N}_]/u
/** What stands before the @ of an e-mail address, or of a name within a word. */
const attached = /[\p{L}\p{N}._%+-]/u

/** Blanks out fenced blocks and inline code, keeping every place where it is. */
const withoutCode = (text: string): string =>
  text
    .replace(/(^|\n)(```|~~~)[\s\S]*?(\n\2[^\n]*|$)/g, (block) => block.replace(/[^\n]/g, " "))
    .replace(/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, (span) => span.replace(/[^\n]/g, " "))

export const mentionsIn = <Id>(text: string, members: ReadonlyArray<Named<Id>>): ReadonlyArray<Id> => {
  const folded = fold(withoutCode(text.normalize("NFC")))
  const names = members
    .map((member) => ({ id: member.id, name: fold(member.name.normalize("NFC")) }))
    .toSorted((one, other) => other.name.length - one.name.length)
  const found = new Set<Id>()
  for (let at = folded.indexOf("@"); at >= 0; at = folded.indexOf("@", at + 1)) {
    if (at > 0 && attached.test(folded[at - 1]!)) continue
    const rest = folded.slice(at + 1)
    const hit = names.find(({ name }) => {
      if (name === "" || !rest.startsWith(name)) return false
      const next = rest.slice(name.length).match(/^./u)?.[0]
      return next === undefined || !word.test(next)
    })
    if (hit !== undefined) found.add(hit.id)
  }
  return [...found]
}
