/** What is wrong with a value, in words: every fault of it that can be told cheaply, and what was probably meant. Pure. */
import type { ErrorObject } from "ajv/dist/2020.js"
import { didYouMean, meantBy } from "./meant.ts"

export interface SchemaFault {
  /** The path in the arguments: `items.2.name`; empty for the whole. */
  readonly path: string
  readonly expected: string
  readonly received: string
  /** What is wrong, if "must be …, but is …" does not fit. */
  readonly says?: string
  /** What else is wrong. */
  readonly others?: ReadonlyArray<SchemaFault>
}

/** Types of JSON with their articles; any other expectation is a phrase already. */
const articles: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "a boolean",
  integer: "an integer",
  number: "a number",
  object: "an object",
  string: "a string",
}
/** `number,null` as "a number or null". */
const withArticle = (types: string): string => {
  const all = types.split(",")
  return all.every((one) => one === "null" || Object.hasOwn(articles, one))
    ? all.map((one) => articles[one] ?? one).join(" or ")
    : types
}

/** The fault and those told with it. */
export const faultsIn = (fault: SchemaFault): ReadonlyArray<SchemaFault> => [fault, ...(fault.others ?? [])]

/** What is wrong, as the end of a sentence. */
export const faultText = ({ expected, received, says }: SchemaFault): string =>
  says ?? `must be ${withArticle(expected)}, but is ${withArticle(received)}`

/** Nothing can match a schema that cannot be read. */
export const brokenSchema = (cause: unknown): SchemaFault => {
  const received = String(cause)
    .replace(/^Error: /, "")
    .slice(0, 500)
  return {
    path: "",
    expected: "a schema that can be checked",
    received,
    says: `cannot be checked, because the schema is broken: ${received}`,
  }
}

export const nestedTooDeeply: SchemaFault = {
  path: "",
  expected: "arguments that are not nested so deeply",
  received: "a stack overflow",
  says: "cannot be checked, because it is nested too deeply",
}

export const tooManyBranches: SchemaFault = {
  path: "",
  expected: "a value that fits, or fails, with fewer alternatives",
  received: "too many alternatives",
  says: "cannot be checked: too many alternatives of its schema were tried; simplify the schema",
}

/** Texts in a fault come from the sender or the author of the schema: cut at this length. */
const longest = 1000
const bounded = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)

/** As many as a person or a model can mend at once. */
const maxFaults = 10

/** An error in one of several alternatives says nothing by itself: another one may be meant. */
const isOfAnAlternative = ({ schemaPath }: ErrorObject): boolean => /\/(anyOf|oneOf|not|if)\//.test(schemaPath)

/** The first error, and with it the others, one for each place. */
export const faultOf = (first: ErrorObject, all: ReadonlyArray<ErrorObject>, root: unknown): SchemaFault => {
  const fault = oneFault(first, root)
  const others = new Map<string, SchemaFault>()
  for (const error of all) {
    if (others.size >= maxFaults - 1) break
    if (isOfAnAlternative(error)) continue
    const other = oneFault(error, root)
    if (other.path !== fault.path && !others.has(other.path)) others.set(other.path, other)
  }
  return others.size === 0 ? fault : { ...fault, others: [...others.values()] }
}

const oneFault = (error: ErrorObject, root: unknown): SchemaFault => {
  const { expected, path, received, says } = wholeFault(error, root)
  return {
    path: bounded(path),
    expected: bounded(expected),
    received,
    ...(says === undefined ? {} : { says: bounded(says) }),
  }
}

const wholeFault = (error: ErrorObject, root: unknown): SchemaFault => {
  const steps = error.instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  const params = error.params as Record<string, unknown>
  if (error.keyword === "required") {
    const missing = String(params["missingProperty"])
    const expected = typeAt(error, missing)
    const words = expected === "a value" ? "is missing" : `is missing; it must be ${withArticle(expected)}`
    const says = `${words}${meantWith(error, missing, at(root, steps))}`
    return { path: [...steps, missing].join("."), expected, received: "undefined", says }
  }
  if (error.keyword === "additionalProperties" || error.keyword === "unevaluatedProperties") {
    const extra = String(params["additionalProperty"] ?? params["unevaluatedProperty"])
    const says = `is not allowed: there is no such property${didYouMean(extra, Object.keys(propertiesOf(error)))}`
    return { path: [...steps, extra].join("."), expected: "no such property", received: "a value", says }
  }
  const [expected, received] = [wordsOf(error, params), shown(at(root, steps))]
  const meant = error.keyword === "enum" ? didYouMean(at(root, steps), params["allowedValues"]) : ""
  const says = `must be ${withArticle(expected)}, but is ${withArticle(received)}${meant}`
  return { path: steps.join("."), expected, received, ...(meant === "" ? {} : { says }) }
}

const propertiesOf = ({ parentSchema }: ErrorObject): Readonly<Record<string, { readonly type?: unknown }>> =>
  (parentSchema as { properties?: Record<string, { type?: unknown }> } | undefined)?.properties ?? {}

/** Where such a name is refused, that is said there. */
const meantWith = (error: ErrorObject, missing: string, given: unknown): string => {
  const { additionalProperties } = (error.parentSchema ?? {}) as { readonly additionalProperties?: unknown }
  return additionalProperties === false || typeof given !== "object" || given === null
    ? ""
    : meantBy(missing, Object.keys(given), propertiesOf(error))
}

const typeAt = (error: ErrorObject, name: string): string => {
  const properties = propertiesOf(error)
  const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
  return typeof type === "string" ? type : "a value"
}

const wordsOf = (error: ErrorObject, params: Record<string, unknown>): string => {
  const { limit } = params
  switch (error.keyword) {
    case "type":
      return String(params["type"])
    case "enum":
      return (params["allowedValues"] as ReadonlyArray<unknown>).map((value) => JSON.stringify(value)).join(" | ")
    case "const":
      return JSON.stringify(params["allowedValue"])
    case "minLength":
      return `at least ${counted(limit, "character")} long`
    case "maxLength":
      return `at most ${counted(limit, "character")} long`
    case "minItems":
      return `a list of at least ${counted(limit, "item")}`
    case "maxItems":
      return `a list of at most ${counted(limit, "item")}`
    case "minProperties":
      return `an object of at least ${counted(limit, "property", "properties")}`
    case "maxProperties":
      return `an object of at most ${counted(limit, "property", "properties")}`
    case "multipleOf":
      return `a multiple of ${String(params["multipleOf"])}`
    case "pattern":
      return `a text that matches ${String(params["pattern"])}`
    case "format":
      return `a text of the format "${String(params["format"])}"`
    case "oneOf":
      return "what exactly one of its alternatives says"
    case "anyOf":
      return "what one of its alternatives says"
    case "not":
      return "something else"
    case "false schema":
      return "left out"
    case "contains":
      return "a list that has what it must contain"
    case "dependentRequired":
      return `an object with "${String(params["missingProperty"])}", which "${String(params["property"])}" asks for`
    case "propertyNames":
      return "an object with other names"
    case "if":
      return "what its schema says for this case"
    case "uniqueItems":
      return "a list of items that are all different"
    default:
      return (error.message ?? error.keyword).replace(/^must (be |have |match )?/, "")
  }
}

const counted = (count: unknown, one: string, more = `${one}s`): string =>
  `${String(count)} ${count === 1 ? one : more}`

const at = (value: unknown, steps: ReadonlyArray<string>): unknown =>
  steps.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<string, unknown>)[step]
        : undefined,
    value,
  )

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return "array"
  if (typeof value === "object" && value !== null) return "object"
  // JSON has no word for NaN and Infinity.
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "undefined")
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
