/**
 * Reads one v1 tool, whose keys were never specified: the same thing may be at the top level, in `execution` or in
 * `config`, under one of several names. What is taken from an unusual place is noted, and so is what nobody took.
 */
import { isObject, type Issue, type JsonObject, own } from "@stoa/contract"

const folders = ["execution", "config", "request", "options"]

export interface Shape {
  /** The first of these names that exists. The first name is the one we write. */
  readonly take: (...names: ReadonlyArray<string>) => unknown
  readonly text: (...names: ReadonlyArray<string>) => string | undefined
  readonly flag: (...names: ReadonlyArray<string>) => boolean | undefined
  /** Takes it, and notes that it is dropped. */
  readonly drop: (name: string, why: string) => void
  /** Takes everything that is left. */
  readonly rest: () => Readonly<Record<string, unknown>>
  readonly note: (text: string) => void
  readonly fault: (path: string, message: string) => void
}

export const shapeOf = (tool: JsonObject, notes: Array<string>, issues: Array<Issue>): Shape => {
  const name = own(tool, "name")
  const label = typeof name === "string" ? name.slice(0, 64) : "a tool without a name"
  const places: ReadonlyArray<readonly [prefix: string, place: JsonObject]> = [
    ["", tool],
    ...folders.flatMap((folder) => {
      const place = own(tool, folder)
      return isObject(place) ? [[`${folder}.`, place] as const] : []
    }),
  ]
  const used = new Set<string>(folders.filter((folder) => isObject(own(tool, folder))))
  const note = (text: string) => void notes.push(`${label}: ${text}`)

  const find = (names: ReadonlyArray<string>, fits: (value: unknown) => boolean): unknown => {
    for (const one of names)
      for (const [prefix, place] of places) {
        const at = `${prefix}${one}`
        const value = own(place, one)
        if (value === undefined || used.has(at) || !fits(value)) continue
        used.add(at)
        if (one !== names[0] || (prefix !== "" && prefix !== "execution.")) note(`took ${names[0]} from "${at}"`)
        return value
      }
    return undefined
  }

  return {
    take: (...names) => find(names, () => true),
    text: (...names) => find(names, (value) => typeof value === "string" && value !== "") as string | undefined,
    flag: (...names) => find(names, (value) => typeof value === "boolean") as boolean | undefined,
    drop: (one, why) => {
      for (const [prefix, place] of places)
        if (own(place, one) !== undefined && !used.has(`${prefix}${one}`)) {
          used.add(`${prefix}${one}`)
          note(`left out "${prefix}${one}": ${why}`)
        }
    },
    rest: () => {
      const left: Record<string, unknown> = {}
      for (const [prefix, place] of places)
        for (const [key, value] of Object.entries(place))
          if (!used.has(`${prefix}${key}`) && !(prefix === "" && folders.includes(key) && isObject(value))) {
            used.add(`${prefix}${key}`)
            Object.defineProperty(left, key, { value, enumerable: true, configurable: true, writable: true })
          }
      return left
    },
    note,
    fault: (path, message) => void issues.push({ path, message }),
  }
}
