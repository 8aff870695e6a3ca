/**
 * Every failed alternative leaves an error until the whole is decided: a small schema whose alternatives lead to
 * alternatives makes millions of them, faster than a thread that runs out of memory can be ended, and such a thread
 * takes the process down. So failed alternatives are counted, and the check ends at a number that no sensible schema
 * reaches.
 */
import type { Ajv2020 } from "ajv/dist/2020.js"

const maxFailed = 50_000
const [tried, passed] = ["stoa:tried", "stoa:passed"]

/** More alternatives failed than a sensible value can cause. */
export class TooManyBranches extends Error {}

const maps = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
/** Keywords that hold values, not schemas: they are left unchanged. */
const values = new Set(["const", "enum"])

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** The schema with a counter before and after its alternatives. */
export const withCounters = (schema: Record<string, unknown>): Record<string, unknown> => {
  const walk = (value: unknown, isMap: boolean): unknown => {
    if (Array.isArray(value)) return value.map((inner) => walk(inner, false))
    if (typeof value !== "object" || value === null) return value
    const out: Record<string, unknown> = {}
    // A key may be __proto__.
    const set = (key: string, inner: unknown) =>
      Object.defineProperty(out, key, { value: inner, enumerable: true, writable: true, configurable: true })
    for (const [key, inner] of Object.entries(value))
      set(key, !isMap && values.has(key) ? inner : walk(inner, !isMap && maps.has(key)))
    if (isMap) return out
    const { anyOf, oneOf } = value as { readonly anyOf?: unknown; readonly oneOf?: unknown }
    const count = lengthOf(anyOf) + lengthOf(oneOf)
    if (count > 0) {
      set(tried, count)
      set(passed, count)
    }
    return out
  }
  return walk(schema, false) as Record<string, unknown>
}

/**
 * Call it before each check. Alternatives of a passing value are subtracted again: a long valid list leaves nothing.
 */
export const addCounters = (ajv: Ajv2020): (() => void) => {
  let failed = 0
  const keyword = (name: string, change: (count: number) => void, before?: string) =>
    ajv.addKeyword({
      keyword: name,
      schemaType: "number",
      errors: false,
      ...(before === undefined ? {} : { before }),
      validate: (count: number) => {
        change(count)
        return true
      },
    })
  keyword(
    tried,
    (count) => {
      failed += count
      if (failed > maxFailed) throw new TooManyBranches()
    },
    "anyOf",
  )
  keyword(passed, (count) => void (failed -= count))
  return () => void (failed = 0)
}
