/** Faults of the configuration file in words that help: for an unknown key, the most similar known key there. Pure. */
import { configurationSchema, isObject, type Issue, Missing, own } from "@stoa/contract"
import { nearest } from "@stoa/tools"

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The schemas a value may have: references resolved, alternatives listed. */
const alternatives = (schema: unknown, root: unknown, depth = 0): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  if (!isObject(schema) || depth > 10) return []
  const ref = own(schema, "$ref")
  const named = typeof ref === "string" ? /^#\/\$defs\/(.+)$/.exec(ref)?.[1] : undefined
  const defs = isObject(root) ? own(root, "$defs") : undefined
  const followed = named !== undefined && isObject(defs) ? alternatives(own(defs, named), root, depth + 1) : []
  const others = ["anyOf", "oneOf", "allOf"].flatMap((key) => list(own(schema, key)))
  return [schema, ...followed, ...others.flatMap((one) => alternatives(one, root, depth + 1))]
}

const below = (schema: Readonly<Record<string, unknown>>, step: string): ReadonlyArray<unknown> => {
  const properties = own(schema, "properties")
  const inside = isObject(properties) ? [own(properties, step)] : []
  return [...inside, own(schema, "additionalProperties"), own(schema, "items")]
}

const keysAt = (path: ReadonlyArray<string>): ReadonlyArray<string> => {
  const root = configurationSchema()
  let here = alternatives(root, root)
  for (const step of path)
    here = here.flatMap((schema) => below(schema, step).flatMap((next) => alternatives(next, root)))
  return here.flatMap((schema) => {
    const properties = own(schema, "properties")
    return isObject(properties) ? Object.keys(properties) : []
  })
}

/** Only for unknown keys: other faults are clear by themselves. */
export const withHint = (issue: Issue): Issue => {
  const path = issue.path.split(".")
  const key = path.pop() ?? ""
  const known = keysAt(path)
  if (known.length === 0 || known.includes(key)) return issue
  const meant = nearest(key, known)
  return meant === undefined
    ? { ...issue, message: `there is no "${key}" here; there are: ${[...new Set(known)].toSorted().join(", ")}` }
    : { ...issue, message: `there is no "${key}" here; did you mean "${meant}"?` }
}

/** In words that hold while the house is down: a start that is refused has no house that a command could ask. */
export const inFile = (error: { readonly message: string }): string =>
  error instanceof Missing ? `there is no ${error.noun} "${error.ref}"; declare it here too` : error.message
