/**
 * Validates arguments and results against a JSON Schema. Our own schemas are compiled here, and small values checked in
 * place; all others on a thread with a deadline, unless the value matches a plain schema. A foreign schema is never
 * compiled here.
 */
import { type JsonSchema, type ToolDefinition, ToolValidationError } from "@stoa/contract"
import { Effect } from "effect"
import { type Checker, compileSchema } from "./compile.ts"
import { brokenSchema, faultsIn, faultText, type SchemaFault } from "./faults.ts"
import { type Extent, extentOf, isPlain, plainlyFits } from "./plain.ts"
import { type SafeSchema, guardSchema, inputFault } from "./schemaGuard.ts"
import { BoundedCache } from "../boundedCache.ts"
import { schemaThread } from "./schemaThread.ts"
import { callAs } from "./signature.ts"

const guarded = new BoundedCache<string, SafeSchema>(1000)
const seen = new WeakMap<object, SafeSchema>()
const checkers = new BoundedCache<string, Checker>(500)
/** Schemas that were compiled in time, by digest, with what of them is left unchecked. */
const passed = new BoundedCache<string, ReadonlyArray<string>>(5000)

type Field = "inputSchema" | "outputSchema"

/** Who asks: checks of one asker wait for each other, not for those of others. */
export interface Asker {
  /** The schema is our own code: it is compiled and checked in place. */
  readonly reviewed: boolean
  readonly by: string
}

const refuse = (tool: string, parameter: Field, expected: string, received: string, message: string) =>
  new ToolValidationError({
    message: `The ${parameter} of "${tool}" was refused: ${message}`,
    toolName: tool,
    parameter,
    expected,
    received,
  })

/** Measures a schema, once; fails if it is too big. Compiles nothing. */
export const measureSchema = (
  tool: string,
  field: Field,
  schema: JsonSchema,
): Effect.Effect<SafeSchema, ToolValidationError> =>
  Effect.suspend(() => {
    const known = knownOf(schema)
    const nameless = field === "inputSchema" ? inputFault(schema) : undefined
    const made = nameless ?? known ?? guardSchema(schema)
    if ("refused" in made)
      return refuse(tool, field, made.expected, made.refused, `it has ${made.refused}; ${made.expected} is accepted`)
    const alike = guarded.get(made.digest, () => made)
    seen.set(schema, alike)
    return Effect.succeed(alike)
  })

/**
 * Whether a schema can be used: within the limits, and compiled in time on the thread, unless it is plain. Called when
 * a definition is registered. Returns what of it is left unchecked, by path.
 */
export const admitSchema = Effect.fnUntraced(function* (
  tool: string,
  field: Field,
  schema: JsonSchema,
  { by, reviewed }: Asker,
) {
  const { digest, schema: measured } = yield* measureSchema(tool, field, schema)
  const known = reviewed || isPlain(measured) ? [] : passed.find(digest)
  if (known !== undefined) return known
  const told = yield* schemaThread.prepare(by, digest, measured)
  if ("unchecked" in told) {
    passed.set(digest, told.unchecked)
    return told.unchecked
  }
  const { expected, received, says = "" } = told.fault!
  return yield* refuse(tool, field, expected, received, `it ${says}`)
})

/** A definition's schema is the same object at every call; only a new one has to be measured. */
const knownOf = (schema: JsonSchema): SafeSchema | undefined => seen.get(schema)

const here = (schema: SafeSchema, value: unknown): SchemaFault | undefined => {
  try {
    return checkers.get(schema.digest, () => compileSchema(schema.schema).check)(value)
  } catch (cause) {
    return brokenSchema(cause)
  }
}

export const checkAgainst = (
  schema: SafeSchema,
  value: unknown,
  { by, reviewed }: Asker,
): Effect.Effect<SchemaFault | undefined> =>
  Effect.suspend(() => {
    const small = !extentOf(value).large
    if (small && reviewed) return Effect.succeed(here(schema, value))
    return small && plainlyFits(schema.schema, value)
      ? Effect.succeed(undefined)
      : schemaThread.check(by, schema.digest, schema.schema, value)
  })

/** Any value against any schema, under a deadline; an unusable schema matches nothing. */
export const checkValue = (schema: JsonSchema, value: unknown, by = ""): Effect.Effect<SchemaFault | undefined> =>
  measureSchema("", "outputSchema", schema).pipe(
    Effect.flatMap((measured) => checkAgainst(measured, value, { by, reviewed: false })),
    Effect.catch((error) =>
      Effect.succeed({
        path: "",
        expected: error.expected,
        received: error.received,
        says: `cannot be checked: ${error.message}`,
      }),
    ),
  )

/** Arguments as the schema's author wants them: nothing is dropped or filled in (X-57). */
export const validateWithSchema = (
  definition: ToolDefinition,
  args: Arguments,
  reviewed: boolean,
  extent: Extent = extentOf(args),
  by = "",
): Effect.Effect<Arguments, ToolValidationError> => {
  const judged = (fault: SchemaFault | undefined) =>
    fault === undefined ? Effect.succeed(args) : Effect.fail(misfit(definition, fault))
  const known = knownOf(definition.inputSchema!)
  // Runs for every call: a check in place needs no fiber.
  if (known !== undefined && !extent.large) {
    if (reviewed) return judged(here(known, args))
    if (plainlyFits(known.schema, args)) return Effect.succeed(args)
  }
  return measureSchema(definition.name, "inputSchema", definition.inputSchema!).pipe(
    Effect.flatMap((schema) => checkAgainst(schema, args, { by, reviewed })),
    Effect.flatMap(judged),
  )
}

type Arguments = Readonly<Record<string, unknown>>

const misfit = (definition: ToolDefinition, fault: SchemaFault): ToolValidationError =>
  new ToolValidationError({
    message: `${faultsIn(fault)
      .map((one) => `${one.path === "" ? "The input" : `"${one.path}"`} ${faultText(one)}.`)
      .join(" ")} ${callAs(definition)}`,
    toolName: definition.name,
    parameter: fault.path,
    expected: fault.expected,
    received: fault.received,
  })
