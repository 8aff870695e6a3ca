/** Compiles a guarded schema with ajv (2020-12). Used here for what is ours and small, and in a worker for the rest. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import addFormatsModule from "ajv-formats"
import { canonical, linear } from "./schemaGuard.ts"

// Under NodeNext the default export of this CommonJS package is its module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

/** The RE2JS itself, because ajv tells patterns apart by their toString. */
const re2 = Object.assign(
  (pattern: string) => {
    const found = linear(pattern)
    if (found === undefined) throw new Error(`RE2 refuses ${pattern}`)
    return found as unknown as RegExp
  },
  { code: "RE2" },
)

export interface SchemaFault {
  /** Where, in the arguments: `items.2.name`; empty for the whole. */
  readonly path: string
  readonly expected: string
  readonly received: string
}

export type Checker = (value: unknown) => SchemaFault | undefined

export const compileSchema = (schema: Readonly<Record<string, unknown>>): Checker => {
  // An instance a schema: a shared one keeps every schema and throws on a repeated $id.
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    logger: false,
    // Errors then bring their schema along: "missing" can say what is missing.
    verbose: true,
    multipleOfPrecision: 9,
    code: { regExp: re2 },
  })
  addFormats(ajv, { mode: "fast" })
  // ajv compares every item with every other one; this is linear.
  ajv.removeKeyword("uniqueItems")
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: ReadonlyArray<unknown>) =>
      !wanted || new Set(items.map(canonical)).size === items.length,
    error: { message: "items that are all different" },
  })
  const validate = ajv.compile(schema)
  return (value) => run(validate, value)
}

const run = (validate: ValidateFunction, value: unknown): SchemaFault | undefined => {
  try {
    if (validate(value)) return undefined
  } catch (cause) {
    // Data nested deeper than the stack: it does not fit, and nothing has broken.
    if (cause instanceof RangeError)
      return { path: "", expected: "arguments that are not nested so deeply", received: "a stack overflow" }
    throw cause
  }
  return faultOf(validate.errors![0]!, value)
}

const faultOf = (error: ErrorObject, root: unknown): SchemaFault => {
  const steps = error.instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  const params = error.params as Record<string, unknown>
  if (error.keyword === "required") {
    const missing = String(params["missingProperty"])
    return { path: [...steps, missing].join("."), expected: typeAt(error, missing), received: "undefined" }
  }
  if (error.keyword === "additionalProperties" || error.keyword === "unevaluatedProperties") {
    const extra = String(params["additionalProperty"] ?? params["unevaluatedProperty"])
    return { path: [...steps, extra].join("."), expected: "no such property", received: "a value" }
  }
  return { path: steps.join("."), expected: wordsOf(error, params), received: shown(at(root, steps)) }
}

const typeAt = (error: ErrorObject, name: string): string => {
  const properties = (error.parentSchema as { properties?: Record<string, { type?: unknown }> } | undefined)?.properties
  const type = properties !== undefined && Object.hasOwn(properties, name) ? properties[name]?.type : undefined
  return typeof type === "string" ? type : "a value"
}

const wordsOf = (error: ErrorObject, params: Record<string, unknown>): string => {
  switch (error.keyword) {
    case "type":
      return String(params["type"])
    case "enum":
      return (params["allowedValues"] as ReadonlyArray<unknown>).map((value) => JSON.stringify(value)).join(" | ")
    case "const":
      return JSON.stringify(params["allowedValue"])
    default:
      return (error.message ?? error.keyword).replace(/^must (be |have |match |NOT )?/, (must) =>
        must.includes("NOT") ? "not " : "",
      )
  }
}

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
  const text = JSON.stringify(value) ?? "undefined"
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
