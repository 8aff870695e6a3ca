/**
 * Seed 004's flat parameter list: declared parameters are checked and passed on, everything else is dropped (S4-46 …
 * S4-54).
 */
import { type ToolDefinition, type ToolParameter, ToolValidationError } from "@stoa/contract"
import { Effect } from "effect"
import { didYouMean, meantBy } from "./meant.ts"
import { callAs } from "./signature.ts"

/** Distinguishes arrays from objects, and NaN is not a number. */
const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number" && !Number.isFinite(value)) return String(value)
  return typeof value
}

interface ParameterFault {
  readonly message: string
  readonly expected: string
  readonly received: string
}

/** What is wrong with a present value. Enums apply to strings (S4-51). */
export const faultOf = (parameter: ToolParameter, value: unknown): ParameterFault | undefined => {
  const { enum: values, name, type } = parameter
  const received = typeOf(value)
  if (received !== type)
    return { message: `Parameter "${name}" expected ${type}, got ${received}`, expected: type, received }
  if (values !== undefined && typeof value === "string" && !values.includes(value))
    return {
      message: `Parameter "${name}" must be one of: ${values.join(", ")}${didYouMean(value, values)}`,
      expected: values.join(" | "),
      received: value.length > 100 ? `${value.slice(0, 100)}…` : value,
    }
  return undefined
}

const refuse = (
  definition: ToolDefinition,
  [first, ...others]: readonly [Fault, ...ReadonlyArray<Fault>],
): ToolValidationError =>
  new ToolValidationError({
    toolName: definition.name,
    parameter: first.parameter,
    expected: first.expected,
    received: first.received,
    message: `${[first, ...others].map(({ message }) => `${message}.`).join(" ")} ${callAs(definition)}`,
  })

interface Fault extends ParameterFault {
  readonly parameter: string
}

/** Own keys only: `__proto__` and `constructor` are ordinary names (S4-54). */
const own = (args: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(args, name) ? args[name] : undefined

export const validateToolInput = (
  definition: ToolDefinition,
  args: Readonly<Record<string, unknown>>,
): Effect.Effect<Readonly<Record<string, unknown>>, ToolValidationError> =>
  Effect.suspend(() => {
    const validated: Record<string, unknown> = {}
    const set = (name: string, value: unknown) =>
      Object.defineProperty(validated, name, { value, enumerable: true, writable: true, configurable: true })
    const faults: Array<Fault> = []
    const known = Object.fromEntries(definition.parameters.map(({ name }) => [name, true]))
    for (const parameter of definition.parameters) {
      const value = own(args, parameter.name)
      if (value === undefined || value === null) {
        if (parameter.required)
          faults.push({
            parameter: parameter.name,
            message: `Missing required parameter "${parameter.name}"${meantBy(parameter.name, Object.keys(args), known)}`,
            expected: parameter.type,
            received: "undefined",
          })
        else if (parameter.default !== undefined) set(parameter.name, structuredClone(parameter.default))
        continue
      }
      const fault = faultOf(parameter, value)
      if (fault !== undefined) faults.push({ ...fault, parameter: parameter.name })
      else set(parameter.name, value)
    }
    const [first, ...others] = faults
    return first === undefined ? Effect.succeed(validated) : refuse(definition, [first, ...others])
  })
