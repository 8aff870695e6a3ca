/**
 * Arguments and results against a JSON Schema. What is ours and small is checked here and now; what is large, or comes
 * from a schema nobody has reviewed, on a thread with a deadline, unless it plainly fits.
 */
import { type JsonSchema, type ToolDefinition, ToolValidationError } from "@stoa/contract"
import { Effect } from "effect"
import { brokenSchema, type Checker, compileSchema, saidOf, type SchemaFault } from "./compile.ts"
import { type Extent, extentOf } from "./extent.ts"
import { digestOf, type Guarded, guardSchema, inputFault } from "./guard.ts"
import { Recent } from "../recent.ts"
import { plainlyFits } from "./plain.ts"
import { schemaThread } from "./thread.ts"
import { callAs } from "./signature.ts"

const guarded = new Recent<string, Guarded>(1000)
const seen = new WeakMap<object, Guarded>()
const checkers = new Recent<string, Checker>(500)

/** Measures and tames a schema once; fails if it is too big, or cannot be compiled at all. */
export const prepareSchema = (
  toolName: string,
  field: "inputSchema" | "outputSchema",
  schema: JsonSchema,
): Effect.Effect<Guarded, ToolValidationError> =>
  Effect.suspend(() => {
    const nameless = field === "inputSchema" ? inputFault(schema) : undefined
    const known = nameless === undefined ? knownOf(schema) : undefined
    if (known !== undefined) return Effect.succeed(known)
    const made = nameless ?? guardSchema(schema)
    if ("refused" in made)
      return new ToolValidationError({
        message: `The ${field} of "${toolName}" was refused: it has ${made.refused}; ${made.expected} is taken`,
        toolName,
        parameter: field,
        expected: made.expected,
        received: made.refused,
      })
    guarded.set(made.digest, made)
    return Effect.succeed(made)
  })

/** A definition's schema is the same object at every call; only a new one has to be digested. */
const knownOf = (schema: JsonSchema): Guarded | undefined => {
  const before = seen.get(schema)
  if (before !== undefined) return before
  const alike = guarded.find(digestOf(schema))
  if (alike !== undefined) seen.set(schema, alike)
  return alike
}

const here = (schema: Guarded, value: unknown): SchemaFault | undefined => {
  try {
    return checkers.get(schema.digest, () => compileSchema(schema.schema))(value)
  } catch (cause) {
    return brokenSchema(cause)
  }
}

export const checkAgainst = (
  schema: Guarded,
  value: unknown,
  reviewed: boolean,
): Effect.Effect<SchemaFault | undefined> =>
  Effect.suspend(() => {
    const small = !extentOf(value).large
    if (small && reviewed) return Effect.succeed(here(schema, value))
    return small && plainlyFits(schema.schema, value)
      ? Effect.succeed(undefined)
      : schemaThread.check(schema.digest, schema.schema, value)
  })

/** Any value against any schema, under a deadline; a schema that cannot be used fits nothing. */
export const checkValue = (schema: JsonSchema, value: unknown): Effect.Effect<SchemaFault | undefined> =>
  prepareSchema("", "outputSchema", schema).pipe(
    Effect.flatMap((prepared) => checkAgainst(prepared, value, false)),
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
): Effect.Effect<Arguments, ToolValidationError> => {
  const judged = (fault: SchemaFault | undefined) =>
    fault === undefined ? Effect.succeed(args) : Effect.fail(misfit(definition, fault))
  const known = knownOf(definition.inputSchema!)
  // Asked of every call: what can be checked here and now needs no fiber.
  if (known !== undefined && !extent.large) {
    if (reviewed) return judged(here(known, args))
    if (plainlyFits(known.schema, args)) return Effect.succeed(args)
  }
  return prepareSchema(definition.name, "inputSchema", definition.inputSchema!).pipe(
    Effect.flatMap((schema) => checkAgainst(schema, args, reviewed)),
    Effect.flatMap(judged),
  )
}

type Arguments = Readonly<Record<string, unknown>>

const misfit = (definition: ToolDefinition, fault: SchemaFault): ToolValidationError =>
  new ToolValidationError({
    message: `${fault.path === "" ? "The input" : `"${fault.path}"`} ${saidOf(fault)}. ${callAs(definition)}`,
    toolName: definition.name,
    parameter: fault.path,
    expected: fault.expected,
    received: fault.received,
  })
