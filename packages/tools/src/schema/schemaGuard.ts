/**
 * A foreign schema is hostile until proven otherwise. It is measured first, including its patterns: within these limits
 * it is compiled on a separate thread, otherwise it is refused, naming the limit.
 */
import { createHash } from "node:crypto"
import { maxSteps, patternCost } from "./pattern.ts"

const caps = {
  bytes: 64 * 1024,
  depth: 32,
  nodes: 2000,
  /** Steps of all its patterns together, each counted once. */
  patterns: 20_000,
}

export interface SafeSchema {
  readonly schema: Readonly<Record<string, unknown>>
  readonly digest: string
}

export type SchemaRefusal = { readonly refused: string; readonly expected: string }

/** Sorts keys, so that one schema has one digest. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value === "object" && value !== null)
    return `{${Object.keys(value)
      .toSorted()
      .map((key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`)
      .join(",")}}`
  return JSON.stringify(value) ?? "null"
}

export const digestOf = (value: unknown): string => createHash("sha256").update(canonical(value)).digest("hex")

/** Every pattern; the word is counted even where it is not a keyword. */
const patternsIn = (value: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const { pattern, patternProperties } = value
  return [
    ...(typeof pattern === "string" ? [pattern] : []),
    ...(typeof patternProperties === "object" && patternProperties !== null ? Object.keys(patternProperties) : []),
  ]
}

const measure = (schema: unknown): SchemaRefusal | undefined => {
  let nodes = 0
  let patterns = 0
  const seen = new Set<string>()
  const deep = (value: unknown, depth: number): SchemaRefusal | undefined => {
    if (depth > caps.depth)
      return { refused: `deeper than ${caps.depth}`, expected: `a schema at most ${caps.depth} deep` }
    if (++nodes > caps.nodes)
      return { refused: `more than ${caps.nodes} nodes`, expected: `a schema of at most ${caps.nodes} nodes` }
    if (typeof value !== "object" || value === null) return undefined
    for (const pattern of patternsIn(value as Readonly<Record<string, unknown>>)) {
      if (seen.has(pattern)) continue
      seen.add(pattern)
      // A pattern that is too large by itself is left out, and costs nothing.
      const cost = patternCost(pattern, maxSteps)
      if (cost <= maxSteps && (patterns += cost) > caps.patterns)
        return {
          refused: `patterns of more than ${caps.patterns} steps together`,
          expected: `a schema whose patterns have at most ${caps.patterns} steps`,
        }
    }
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      const found = deep(inner, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  return deep(schema, 0)
}

/** Arguments have names, so the schema must be an object's; a result may be anything. */
export const inputFault = ({ type }: Readonly<Record<string, unknown>>): SchemaRefusal | undefined =>
  type === undefined || type === "object"
    ? undefined
    : {
        refused: `type ${JSON.stringify(type).slice(0, 100)}`,
        expected: "a schema of type object: arguments have names",
      }

export const guardSchema = (schema: Readonly<Record<string, unknown>>): SafeSchema | SchemaRefusal => {
  const tooBig = measure(schema)
  if (tooBig !== undefined) return tooBig
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > caps.bytes) return { refused: `${bytes} bytes`, expected: `a schema of at most ${caps.bytes} bytes` }
  // An unknown $schema, or an $id, would only make the compiler look for others.
  const { $id: _id, $schema: _schema, ...rest } = schema
  return { schema: rest, digest: digestOf(schema) }
}
