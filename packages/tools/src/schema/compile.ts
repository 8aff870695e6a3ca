/** Compiles a guarded schema with ajv (2020-12): on the event loop for schemas of our own code, in a worker for all others. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import { addCounters, withCounters, TooManyBranches } from "./branches.ts"
import { faultOf, nestedTooDeeply, type SchemaFault, tooManyBranches } from "./faults.ts"
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

export type Checker = (value: unknown) => SchemaFault | undefined

export interface Compiled {
  readonly check: Checker
  /** What is not checked here, by path: the MCP server has to check it. */
  readonly unchecked: ReadonlyArray<string>
}

type Linear = ReturnType<typeof makeLinear>

const validatorOf = (schema: Record<string, unknown>, linear: Linear, allErrors: boolean) => {
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
    allErrors,
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
  return { validate: ajv.compile(withCounters(schema)), begin }
}

export const compileSchema = (given: Readonly<Record<string, unknown>>): Compiled => {
  const linear = makeLinear()
  const { schema, unchecked } = withoutUnsafe(given, linear)
  const { begin, validate } = validatorOf(schema, linear, false)
  const { length } = JSON.stringify(schema)
  let thorough: ReturnType<typeof validatorOf> | undefined
  const every: Every = (value) => {
    if (!isCheap(schema, length, value)) return []
    thorough ??= validatorOf(schema, linear, true)
    thorough.begin()
    return thorough.validate(value) ? [] : thorough.validate.errors!
  }
  const check: Checker = (value) => {
    begin()
    return run(validate, value, every)
  }
  return { check, unchecked }
}

type Every = (value: unknown) => NonNullable<ValidateFunction["errors"]>

/** References lead anywhere, any number of times. */
const references = new Set(["$ref", "$dynamicRef", "$recursiveRef"])
const refers = (schema: unknown): boolean =>
  typeof schema === "object" &&
  schema !== null &&
  Object.entries(schema).some(([key, inner]) => references.has(key) || refers(inner))

/** A thread that makes millions of errors takes the process down. Each error has its own part of the schema and the value. */
const maxWork = 4_000_000
const isCheap = (schema: unknown, length: number, value: unknown): boolean =>
  length * (JSON.stringify(value)?.length ?? 0) <= maxWork && !refers(schema)

const run = (validate: ValidateFunction, value: unknown, every: Every): SchemaFault | undefined => {
  try {
    if (validate(value)) return undefined
  } catch (cause) {
    // Data nested deeper than the stack: it does not match, and nothing is broken.
    if (cause instanceof RangeError) return nestedTooDeeply
    if (cause instanceof TooManyBranches) return tooManyBranches
    throw cause
  }
  const first = validate.errors![0]!
  try {
    return faultOf(first, every(value), value)
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TooManyBranches) return faultOf(first, [], value)
    throw cause
  }
}
