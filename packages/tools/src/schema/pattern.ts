/**
 * Patterns are run only by RE2, in linear time; the cost of compiling them is counted beforehand. One that RE2 refuses,
 * or that is too large, is left out and reported, and never run natively.
 */
import { RE2JS } from "re2js"

/** The limit for one pattern, with repeats expanded: `a{1000}` counts a thousand. */
export const maxSteps = 2000

/** A class is one step, plus its ranges; those of Unicode have hundreds. */
const classCost = 2
const unicodeCost = 10
const repeat = /^\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/

interface Group {
  /** The cost so far without the last atom: a repeat multiplies only that atom. */
  before: number
  last: number
}

/**
 * How many steps a pattern has with its repeats expanded. Reads each character once, and stops above `most`: it must
 * cost less than what it guards against.
 */
export const patternCost = (pattern: string, most: number): number => {
  if (pattern.length > most) return pattern.length
  const open: Array<Group> = []
  let group: Group = { before: 0, last: 0 }
  const atom = (cost: number) => {
    group.before += group.last
    group.last = cost
  }
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === "\\") {
      atom(/[pP]/.test(pattern[at + 1] ?? "") ? unicodeCost : classCost)
      at++
    } else if (char === "[") {
      const from = at
      for (at++; at < pattern.length && (pattern[at] !== "]" || at === from + 1); at++) if (pattern[at] === "\\") at++
      atom(classCost + ((at - from) >> 4) + (pattern.slice(from, at).match(/\\[pP]/g)?.length ?? 0) * unicodeCost)
    } else if (char === "(") {
      open.push(group)
      group = { before: 0, last: 1 }
    } else if (char === ")") {
      const inner = group.before + group.last + 1
      group = open.pop() ?? { before: 0, last: 0 }
      atom(inner)
    } else if (char === "{") {
      const found = repeat.exec(pattern.slice(at, at + 24))
      if (found === null) atom(1)
      else {
        const [whole, least, , highest] = found
        group.last *= Math.max(1, Number(highest ?? least) + (found[2] === "," && highest === undefined ? 1 : 0))
        at += whole.length - 1
      }
    } else if (char === "*" || char === "+" || char === "?") group.last += 1
    else atom(1)
    if (group.before + group.last > most) return group.before + group.last
  }
  return [...open, group].reduce((sum, { before, last }) => sum + before + last, 0)
}

/** The pattern compiled by RE2, or undefined if it needs more than linear time or is too large. */
export const linear = (pattern: string): RE2JS | undefined => {
  if (patternCost(pattern, maxSteps) > maxSteps) return undefined
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch {
    return undefined
  }
}

/** The same, compiling each pattern only once per schema. */
export const makeLinear = () => {
  const known = new Map<string, RE2JS | undefined>()
  return (pattern: string): RE2JS | undefined => {
    if (!known.has(pattern)) known.set(pattern, linear(pattern))
    return known.get(pattern)
  }
}
type Linear = ReturnType<typeof makeLinear>

/**
 * Removes patterns that cannot be checked safely because RE2 refuses them. Returns their paths: the MCP server has to
 * check them.
 */
export const withoutUnsafe = (
  schema: Readonly<Record<string, unknown>>,
  linearOf: Linear,
): { readonly schema: Record<string, unknown>; readonly unchecked: ReadonlyArray<string> } => {
  const unchecked: Array<string> = []
  const walk = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((inner, at) => walk(inner, `${path}/${at}`))
    if (typeof value !== "object" || value === null) return value
    const out: Record<string, unknown> = {}
    const set = (key: string, inner: unknown) =>
      Object.defineProperty(out, key, { value: inner, enumerable: true, writable: true, configurable: true })
    for (const [key, inner] of Object.entries(value)) {
      if (key === "pattern" && typeof inner === "string" && linearOf(inner) === undefined)
        unchecked.push(`${path}/pattern`)
      else if (key === "patternProperties" && typeof inner === "object" && inner !== null) {
        const kept = Object.entries(inner).filter(([pattern]) => {
          const fine = linearOf(pattern) !== undefined
          if (!fine) unchecked.push(`${path}/patternProperties/${pattern}`)
          return fine
        })
        set(key, Object.fromEntries(kept.map(([pattern, sub]) => [pattern, walk(sub, `${path}/${key}/${pattern}`)])))
      } else set(key, walk(inner, `${path}/${key}`))
    }
    return out
  }
  return { schema: walk(schema, "") as Record<string, unknown>, unchecked }
}
