/**
 * What git says of changes, divided into what a person can read and what cannot be shown as text. Pure: it reads the
 * output of `git diff --raw --patch --text --full-index`.
 */

/** A file whose changes cannot be shown as text, and the id of its content; null if it is removed. */
export interface UnshownFile {
  readonly path: string
  readonly object: string | null
}

export interface Changes {
  /** All paths, as git writes them: quoted if they have unusual characters. */
  readonly files: ReadonlyArray<string>
  /** The changes of all files that can be shown. Objects are named in full, so equal texts mean equal contents. */
  readonly diff: string
  readonly unshown: ReadonlyArray<UnshownFile>
}

/**
 * What a reader would not see, or would see elsewhere: control characters, returns inside of a line, characters that
 * turn the direction of a text, and what was no UTF-8.
 */
const unreadable = /[^\P{Cc}\t\n\f\r]|\r(?!\n)|[\u2028-\u202E\u2066-\u2069\uFFFD]/u

/** `:100644 100644 OLD NEW M<tab>path` */
const rawLine = /^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) ([A-Z])\d*\t(.+)$/s

const heading = "diff --git "

/** Lines of a content begin with a sign of their own, so a heading is only ever a heading. */
const sectionsOf = (patch: string): ReadonlyArray<string> => (patch === "" ? [] : patch.split(/(?<=\n)(?=diff --git )/))

/** Undefined if the output is not what it should be. */
export const readChanges = (said: string): Changes | undefined => {
  if (said === "") return { files: [], diff: "", unshown: [] }
  const at = said.indexOf("\n\n")
  const [raw, patch] = at < 0 ? [said.trimEnd(), ""] : [said.slice(0, at), said.slice(at + 2)]
  const sections = [...sectionsOf(patch)]
  const unshown: Array<UnshownFile> = []
  const files: Array<string> = []
  let diff = ""
  for (const line of raw.split("\n")) {
    const found = rawLine.exec(line)
    if (found === null) return undefined
    const [, object, status, path] = found as unknown as [string, string, string, string]
    // A file that becomes a link, or the other way round, is removed and made again.
    const own = sections.splice(0, status === "T" ? 2 : 1)
    if (own.length !== (status === "T" ? 2 : 1) || !own.every((section) => section.startsWith(heading)))
      return undefined
    files.push(path)
    if (own.some((section) => unreadable.test(section))) unshown.push({ path, object: status === "D" ? null : object })
    else diff += own.join("")
  }
  return sections.length === 0 ? { files, diff, unshown } : undefined
}
