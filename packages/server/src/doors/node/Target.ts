/**
 * The target of a request, parsed once and used by both doors, every guard and the router. A path has exactly one
 * spelling. Anything that could be read in two ways (an encoded letter, a dot segment, an empty segment, a semicolon,
 * an absolute address) is refused before any other code reads it.
 */

export interface Target {
  /** Up to the question mark, as it was sent. */
  readonly path: string
  /** Why it is refused, if it is not plain. */
  readonly fault: string | undefined
}

/** Matches almost every request: nothing in it could be read in two ways. */
const plain = /^\/$|^(\/[A-Za-z0-9_~@:-][A-Za-z0-9._~@:-]*)+\/?$/
/** What RFC 3986 allows in a path, except `;`, which some parsers take for the end of it. */
const allowed = /^[A-Za-z0-9\-._~!$&'()*+,=:@/%]*$/
const escape = /%([0-9A-Fa-f]{2})?/g
const isLetterOrDigit = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

const faultOf = (path: string): string | undefined => {
  if (plain.test(path)) return undefined
  if (!path.startsWith("/")) return "must begin with /; send the path alone"
  if (!allowed.test(path)) return "has a character that must be percent-encoded"
  for (const [, digits] of path.matchAll(escape)) {
    if (digits === undefined) return "has a % that is not an escape; write %25"
    const code = Number.parseInt(digits, 16)
    if (code === 0) return "has a NUL character (%00); leave it out"
    if (isLetterOrDigit(code))
      return `has %${digits} for "${String.fromCharCode(code)}"; write letters and digits plainly`
  }
  const parts = path.split("/")
  if (parts.slice(1, -1).includes("")) return "has two slashes in a row"
  if (parts.some((part) => /^(\.|%2e){1,2}$/i.test(part))) return "has a . or .. segment"
  try {
    decodeURIComponent(path)
    return undefined
  } catch {
    return "is not UTF-8"
  }
}

export const targetOf = (url: string): Target => {
  const end = url.indexOf("?")
  const path = end === -1 ? url : url.slice(0, end)
  return { path, fault: faultOf(path) ?? (/%00/.test(url) ? "has a NUL character (%00); leave it out" : undefined) }
}
