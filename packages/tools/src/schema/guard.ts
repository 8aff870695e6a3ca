/**
 * A foreign schema is hostile until shown otherwise. Before it is compiled it is measured; patterns are run by RE2 alone,
 * and a pattern RE2 refuses is taken out, reported, and left to whoever wrote it: it is never run natively.
 */
import { createHash } from "node:crypto"
import { RE2JS } from "re2js"

const caps = { bytes: 64 * 1024, depth: 32, nodes: 2000 }

export interface Guarded {
  readonly schema: Readonly<Record<string, unknown>>
  readonly digest: string
  /** What is not checked here, by path: the upstream has to. */
  readonly unchecked: ReadonlyArray<string>
}

export type Refused = { readonly refused: string; readonly expected: string }

/** Keys in one order, so that one schema has one digest. */
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

const measure = (schema: unknown): Refused | undefined => {
  let nodes = 0
  const deep = (value: unknown, depth: number): Refused | undefined => {
    if (depth > caps.depth)
      return { refused: `deeper than ${caps.depth}`, expected: `a schema at most ${caps.depth} deep` }
    if (++nodes > caps.nodes)
      return { refused: `more than ${caps.nodes} nodes`, expected: `a schema of at most ${caps.nodes} nodes` }
    if (typeof value !== "object" || value === null) return undefined
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      const found = deep(inner, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  return deep(schema, 0)
}

/** A pattern as RE2 understands it, or nothing where it needs more than linear time. */
export const linear = (pattern: string): RE2JS | undefined => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch {
    return undefined
  }
}

/** Takes out what cannot be checked safely: patterns RE2 refuses, and references that lead out of the schema. */
const tame = (value: unknown, path: string, unchecked: Array<string>): unknown => {
  if (Array.isArray(value)) return value.map((inner, at) => tame(inner, `${path}/${at}`, unchecked))
  if (typeof value !== "object" || value === null) return value
  const out: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    if (key === "pattern" && typeof inner === "string" && linear(inner) === undefined) {
      unchecked.push(`${path}/pattern`)
      continue
    }
    if (key === "patternProperties" && typeof inner === "object" && inner !== null) {
      const kept = Object.entries(inner).filter(([pattern]) => {
        const fine = linear(pattern) !== undefined
        if (!fine) unchecked.push(`${path}/patternProperties/${pattern}`)
        return fine
      })
      out[key] = Object.fromEntries(
        kept.map(([pattern, sub]) => [pattern, tame(sub, `${path}/${key}/${pattern}`, unchecked)]),
      )
      continue
    }
    Object.defineProperty(out, key, {
      value: tame(inner, `${path}/${key}`, unchecked),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return out
}

/** Arguments have names; a result may be anything. */
export const inputFault = ({ type }: Readonly<Record<string, unknown>>): Refused | undefined =>
  type === undefined || type === "object"
    ? undefined
    : { refused: `type ${JSON.stringify(type)}`, expected: "a schema of type object: arguments have names" }

export const guardSchema = (schema: Readonly<Record<string, unknown>>): Guarded | Refused => {
  const tooBig = measure(schema)
  if (tooBig !== undefined) return tooBig
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > caps.bytes) return { refused: `${bytes} bytes`, expected: `a schema of at most ${caps.bytes} bytes` }
  const unchecked: Array<string> = []
  const tamed = tame(schema, "", unchecked) as Record<string, unknown>
  // A $schema we do not have, or an $id, would only make the compiler look for others.
  const { $id: _id, $schema: _schema, ...rest } = tamed
  return { schema: rest, digest: digestOf(schema), unchecked }
}
