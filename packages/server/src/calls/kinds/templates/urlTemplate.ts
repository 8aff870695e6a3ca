/**
 * An address with placeholders. Only the operator decides where a request goes: placeholders are allowed in path
 * segments, query values and the fragment, and each value is encoded for its position, so that it stays one segment or
 * one value whatever it contains. Pure.
 */
import type { Placeholder } from "@stoa/contract"
import type { Schema } from "effect"
import { type TemplateValues, type Part, type Report, textOf, valueOf, houseParts, nameOf } from "./template.ts"

export interface UrlTemplate {
  /** Scheme and host, exactly as written. */
  readonly origin: string
  /** Between the slashes of the path; the first is empty, because it precedes the first slash. */
  readonly segments: ReadonlyArray<ReadonlyArray<Part>>
  readonly query: ReadonlyArray<{ readonly key: string; readonly value: ReadonlyArray<Part> | undefined }> | undefined
  readonly fragment: ReadonlyArray<Part> | undefined
}

/** Splits at the first such character that is literal, not filled in. */
const cut = (parts: ReadonlyArray<Part>, mark: string): readonly [Array<Part>, Array<Part> | undefined] => {
  const place = parts.findIndex((part) => typeof part === "string" && part.includes(mark))
  if (place === -1) return [[...parts], undefined]
  const text = parts[place] as string
  const at = text.indexOf(mark)
  const some = (rest: string): ReadonlyArray<Part> => (rest === "" ? [] : [rest])
  return [
    [...parts.slice(0, place), ...some(text.slice(0, at))],
    [...some(text.slice(at + 1)), ...parts.slice(place + 1)],
  ]
}
const split = (parts: ReadonlyArray<Part>, mark: string): ReadonlyArray<ReadonlyArray<Part>> => {
  const [first, rest] = cut(parts, mark)
  return rest === undefined ? [first] : [first, ...split(rest, mark)]
}

const dots = /^(?:\.|%2e){1,2}$/i

const readPair =
  (path: string, report: Report) =>
  (pair: ReadonlyArray<Part>): { readonly key: string; readonly value: ReadonlyArray<Part> | undefined } => {
    const [key, value] = cut(pair, "=")
    const written = key.filter((part) => typeof part === "string")
    if (written.length < key.length)
      report(path, "a placeholder in the query needs a name before it: ?name={{input.x}}")
    return { key: written.join(""), value }
  }

/** Parses one, or reports why it cannot. `parts` come from `readText`. */
export const readUrlTemplate = (parts: ReadonlyArray<Part>, path: string, report: Report): UrlTemplate | undefined => {
  const refuse = (message: string): undefined => {
    report(path, message)
  }
  // oxlint-disable-next-line no-control-regex
  if (parts.some((part) => typeof part === "string" && /[\u0000-\u0020\\\u007f]/.test(part)))
    return refuse("must not contain spaces, control characters or backslashes")
  const [beforeFragment, fragment] = cut(parts, "#")
  const [beforeQuery, query] = cut(beforeFragment, "?")
  const [head = ""] = beforeQuery
  const [origin, authority = ""] = (typeof head === "string" ? /^https?:\/\/([^/]+)/i.exec(head) : null) ?? []
  if (origin === undefined)
    return refuse("must begin with http:// or https:// and a host; placeholders are allowed only after the host")
  if (origin.length === (head as string).length && beforeQuery.length > 1)
    return refuse("placeholders are allowed only in path, query and fragment, not in host or port")
  if (authority.includes("@")) return refuse("has a user name or password; send them in a header, from ${secret.NAME}")
  if (URL.parse(`${origin}/`) === null) return refuse(`"${origin}" is not the beginning of an address`)
  const rest = (head as string).slice(origin.length)
  const segments = split([...(rest === "" ? [] : [rest]), ...beforeQuery.slice(1)], "/")
  for (const segment of segments) {
    if (segment.length === 1 && typeof segment[0] === "string" && dots.test(segment[0]))
      report(path, 'has a "." or ".." in its path; write the path out')
    if (segment.some((part) => typeof part === "object" && part.from === "input" && part.optional))
      report(path, "an optional placeholder (?) is allowed in the query, not in the path")
  }
  return {
    origin,
    segments,
    query: query === undefined ? undefined : split(query, "&").map(readPair(path, report)),
    fragment,
  }
}

export const houseInUrl = ({ fragment = [], query = [], segments }: UrlTemplate): ReadonlyArray<Placeholder> =>
  [...segments, ...query.map(({ value = [] }) => value), fragment].flatMap(houseParts)

const holdable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

/** Fills every part of one segment, value or fragment; undefined if all of it was absent. */
const filled = (parts: ReadonlyArray<Part>, filling: TemplateValues, inPath: boolean) => {
  let absent = parts.length > 0
  let text = ""
  for (const part of parts) {
    if (typeof part === "string") {
      text += part
      absent = false
      continue
    }
    const value = valueOf(part, filling)
    if (value === undefined) continue
    absent = false
    const said = textOf(value)
    if (inPath && (typeof value === "object" || said === ""))
      filling.problems.push(
        `"${nameOf(part)}" is ${said === "" ? "empty" : said.slice(0, 40)}, which cannot be used in a path; give text, a number or a boolean`,
      )
    else if (!holdable(said)) filling.problems.push(`"${nameOf(part)}" has characters that no address can hold`)
    else text += encodeURIComponent(said)
  }
  return absent ? undefined : text
}

const fillQuery = (query: NonNullable<UrlTemplate["query"]>, filling: TemplateValues) =>
  query.flatMap(({ key, value }) => {
    if (value === undefined) return [key]
    const text = filled(value, filling, false)
    return text === undefined ? [] : [`${key}=${text}`]
  })

/**
 * A query pair that comes from the `query` object, not from the address: none for an absent or null value, one for each
 * item of a list, JSON for an object.
 */
export const pairsOf = (key: string, value: Schema.Json | undefined, problems: Array<string>): ReadonlyArray<string> =>
  (Array.isArray(value) ? (value as ReadonlyArray<Schema.Json>) : [value ?? undefined]).flatMap((one) => {
    if (one === undefined) return []
    const text = textOf(one)
    if (holdable(text)) return [`${encodeURIComponent(key)}=${encodeURIComponent(text)}`]
    problems.push(`the query's "${key}" would have characters that no address can hold`)
    return []
  })

/** The address for one call; if `filling` has a problem, it must not be used. */
export const fillUrl = (template: UrlTemplate, filling: TemplateValues, more: ReadonlyArray<string> = []): string => {
  const segments = template.segments.map((parts) => {
    const text = filled(parts, filling, true) ?? ""
    // A literal "." and a filled-in "." together would climb up the path; only visible after filling.
    if (dots.test(text)) filling.problems.push(`a part of the path would be "${text}", which would lead elsewhere`)
    return text
  })
  const query = [...(template.query === undefined ? [] : fillQuery(template.query, filling)), ...more]
  const fragment = template.fragment === undefined ? undefined : filled(template.fragment, filling, false)
  const after = `${query.length === 0 ? "" : `?${query.join("&")}`}${fragment === undefined ? "" : `#${fragment}`}`
  return `${template.origin}${segments.join("/")}${after}`
}

/** A last check that the address still has the configured shape. It should never fail. */
export const sameShape = (template: UrlTemplate, text: string): boolean => {
  const [url, home] = [URL.parse(text), URL.parse(`${template.origin}/`)]
  return (
    url !== null &&
    home !== null &&
    url.origin === home.origin &&
    url.username === "" &&
    url.pathname.split("/").length === Math.max(template.segments.length, 2)
  )
}
