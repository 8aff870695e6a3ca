/** Compiles a guarded schema with ajv (2020-12): on the event loop for schemas of our own code, in a worker for all others. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import { addCounters, withCounters, TooManyBranches } from "./branches.ts"
import { canonical } from "./schemaGuard.ts"
import { makeLinear, withoutUnsafe } from "./pattern.ts"

// Under NodeNext the default export of this CommonJS package is its module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

/** Returns the RE2JS itself, because ajv distinguishes patterns by their toString. */
const re2 = (linear: ReturnType<typeof makeLinear>) =>
  Object.assign(
    (pattern: string) => {
      const found = linear(pattern)
      if (found === undefined) throw new Error(`RE2 refuses ${pattern.slice(0, 100)}`)
      return found as unknown as RegExp
    },
    { code: "RE2" },
  )

export interface SchemaFault {
  /** The path in the arguments: `items.2.name`; empty for the whole. */
  readonly path: string
  readonly expected: string
  readonly received: string
  /** What is wrong, if "must be …, but is …" does not fit. */
  readonly says?: string
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

export type Checker = (value: unknown) => SchemaFault | undefined

export interface Compiled {
  readonly check: Checker
  /** What is not checked here, by path: the MCP server has to check it. */
  readonly unchecked: ReadonlyArray<string>
}

export const compileSchema = (given: Readonly<Record<string, unknown>>): Compiled => {
  const linear = makeLinear()
  const { schema, unchecked } = withoutUnsafe(given, linear)
  // One instance per schema: a shared one keeps every schema and throws on a repeated $id.
  const ajv = new Ajv2020({
    strict: false,
    // NaN and Infinity are no numbers (S4-52): JSON such as 1e999 is read as Infinity.
    strictNumbers: true,
    validateSchema: false,
    logger: false,
    // Errors then include their schema: "missing" can say what is missing.
    verbose: true,
    multipleOfPrecision: 9,
    code: { regExp: re2(linear) },
  })
  addFormats(ajv, { mode: "fast" })
  // ajv compares every item with every other one; ours is linear.
  ajv.removeKeyword("uniqueItems")
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: ReadonlyArray<unknown>) =>
      !wanted || new Set(items.map(canonical)).size === items.length,
    error: { message: "items that are all different" },
  })
  const begin = addCounters(ajv)
  const validate = ajv.compile(withCounters(schema))
  const check: Checker = (value) => {
    begin()
    return run(validate, value)
  }
  return { check, unchecked }
}

const nestedTooDeeply: SchemaFault = {
  path: "",
  expected: "arguments that are not nested so deeply",
  received: "a stack overflow",
  says: "cannot be checked, because it is nested too deeply",
}

const tooManyBranches: SchemaFault = {
  path: "",
  expected: "a value that fits, or fails, with fewer alternatives",
  received: "too many alternatives",
  says: "cannot be checked: too many alternatives of its schema were tried; simplify the schema",
}

const run = (validate: ValidateFunction, value: unknown): SchemaFault | undefined => {
  try {
    if (validate(value)) return undefined
  } catch (cause) {
    // Data nested deeper than the stack: it does not match, and nothing is broken.
    if (cause instanceof RangeError) return nestedTooDeeply
    if (cause instanceof TooManyBranches) return tooManyBranches
    throw cause
  }
  return faultOf(validate.errors![0]!, value)
}

/** Texts in a fault come from the sender or the author of the schema: cut at this length. */
const longest = 1000
const bounded = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)

const faultOf = (error: ErrorObject, root: unknown): SchemaFault => {
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
    const says = expected === "a value" ? "is missing" : `is missing; it must be ${withArticle(expected)}`
    return { path: [...steps, missing].join("."), expected, received: "undefined", says }
  }
  if (error.keyword === "additionalProperties" || error.keyword === "unevaluatedProperties") {
    const extra = String(params["additionalProperty"] ?? params["unevaluatedProperty"])
    const says = "is not allowed: there is no such property"
    return { path: [...steps, extra].join("."), expected: "no such property", received: "a value", says }
  }
  return { path: steps.join("."), expected: wordsOf(error, params), received: shown(at(root, steps)) }
}

const typeAt = (error: ErrorObject, name: string): string => {
  const properties = (error.parentSchema as { properties?: Record<string, { type?: unknown }> } | undefined)?.properties
  const type = properties !== undefined && Object.hasOwn(properties, name) ? properties[name]?.type : undefined
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
