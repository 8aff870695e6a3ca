/** The text of the configuration file as a value: JSON with comments, in which every key counts. */
import type { Issue } from "@stoa/contract"
import * as jsonc from "jsonc-parser"

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

/** Keys that JSON parsers drop: of two with one name the first, and the one that JavaScript gives another meaning. */
const lostKeys = (text: string, node: jsonc.Node | undefined, path: ReadonlyArray<string>): ReadonlyArray<Issue> => {
  if (node?.type === "array")
    return (node.children ?? []).flatMap((child, place) => lostKeys(text, child, [...path, String(place)]))
  if (node?.type !== "object") return []
  const first = new Map<string, number>()
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? []
    const name = String(key?.value)
    const line = lineOf(text, property.offset)
    const at = [...path, name].join(".")
    const before = first.get(name)
    if (before === undefined) first.set(name, line)
    const twice = before === line ? `twice on line ${line}` : `on line ${before} and again on line ${line}`
    return [
      ...(before === undefined ? [] : [{ path: at, message: `is written ${twice}; only one counts, so keep one` }]),
      ...(name === "__proto__" ? [{ path: at, message: `cannot be a key (line ${line}); take it out` }] : []),
      ...lostKeys(text, value, [...path, name]),
    ]
  })
}

/** Comments and trailing commas are allowed; faults of the syntax are reported by line. */
export const parse = (text: string): { readonly value: unknown; readonly issues: ReadonlyArray<Issue> } => {
  const errors: Array<jsonc.ParseError> = []
  const options = { allowTrailingComma: true, disallowComments: false }
  const value: unknown = jsonc.parse(text, errors, options)
  if (errors.length === 0) return { value, issues: lostKeys(text, jsonc.parseTree(text, [], options), []) }
  return {
    value,
    issues: errors.map(({ error, offset }) => ({
      path: `line ${lineOf(text, offset)}`,
      message: jsonc
        .printParseErrorCode(error)
        .replace(/([a-z])([A-Z])/g, "$1 $2")
        .toLowerCase(),
    })),
  }
}
