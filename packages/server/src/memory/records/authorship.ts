/**
 * Who wrote the words of a version: its content and its tags each have their authors. Whoever makes a version is not
 * the author of words that were there before, and whoever adds to another's words does not make them their own. Pure.
 */
import type { MemoryAuthors, PrincipalId } from "@stoa/contract"

/** The most authors that are stored of a text. */
const most = 8

/** As stored; a text that names none was written by whoever made the version. */
export const authorsIn = (stored: string, principal: PrincipalId): MemoryAuthors => {
  const { content = [principal], tags = [principal] } = JSON.parse(stored) as Partial<MemoryAuthors>
  return { content, tags }
}

export const authorsText = (authors: MemoryAuthors): string => JSON.stringify(authors)

/** Whether all of it was written by this principal alone. */
export const isBy = ({ content, tags }: MemoryAuthors, principal: PrincipalId): boolean =>
  [...content, ...tags].every((author) => author === principal)

/** The newest author first; of very many the oldest are left out, but never the last who is somebody else. */
const withAuthor = (by: PrincipalId, before: ReadonlyArray<PrincipalId>): ReadonlyArray<PrincipalId> =>
  [by, ...before.filter((one) => one !== by)].slice(0, most)

const lengthOfCommon = (one: string, other: string): number => {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++
  return start + end
}

/** A line of fewer letters is no sentence: anybody could have written it. */
const shortLine = 8
const linesIn = (text: string): ReadonlyArray<string> =>
  text
    .split(/[\n\r\v\f\u0085\u2028\u2029]/u)
    .map((line) => line.trim())
    .filter(({ length }) => length >= shortLine)

/** Whether words of a text stand in another: a whole line of it, all of it, or most of what both have. */
const keepsWords = (before: string, after: string): boolean => {
  const [old, fresh] = [before.trim(), after.trim()]
  if (old === "" || fresh === "") return false
  if (fresh.includes(old) || old.includes(fresh)) return true
  if (2 * lengthOfCommon(old, fresh) >= Math.min(old.length, fresh.length)) return true
  const lines = new Set(linesIn(old))
  return linesIn(fresh).some((line) => lines.has(line))
}

interface Texts {
  readonly content: string
  /** As stored. */
  readonly tags: string
}

const tagsIn = (stored: string): ReadonlyArray<string> => JSON.parse(stored) as ReadonlyArray<string>

/** The authors after somebody made another version of it. */
export const authorsAfter = (by: PrincipalId, authors: MemoryAuthors, before: Texts, after: Texts): MemoryAuthors => {
  const kept = new Set(tagsIn(before.tags))
  return {
    content:
      before.content === after.content
        ? authors.content
        : withAuthor(by, keepsWords(before.content, after.content) ? authors.content : []),
    tags:
      before.tags === after.tags
        ? authors.tags
        : withAuthor(by, tagsIn(after.tags).some((tag) => kept.has(tag)) ? authors.tags : []),
  }
}
