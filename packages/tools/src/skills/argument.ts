/**
 * Reads arguments. The road has validated them, but a handler that is called directly must not act on nonsense either.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"

export type Arguments = Readonly<Record<string, unknown>>

export const refuse = (tool: string, message: string, cause?: unknown): Effect.Effect<never, ToolExecutionError> =>
  Effect.fail(new ToolExecutionError({ message, toolName: tool, ...(cause === undefined ? {} : { cause }) }))

const own = (args: Arguments, name: string): unknown => (Object.hasOwn(args, name) ? args[name] : undefined)

export const text = (tool: string, args: Arguments, name: string): Effect.Effect<string, ToolExecutionError> => {
  const value = own(args, name)
  return typeof value === "string"
    ? Effect.succeed(value)
    : refuse(tool, `"${name}" must be a string; it was ${value === null ? "null" : typeof value}.`)
}

export const choice = <A extends string>(
  tool: string,
  args: Arguments,
  name: string,
  among: ReadonlyArray<A>,
  otherwise: A,
): Effect.Effect<A, ToolExecutionError> => {
  const value = own(args, name) ?? otherwise
  const found = among.find((it) => it === value)
  return found === undefined ? refuse(tool, `"${name}" must be one of ${among.join(", ")}.`) : Effect.succeed(found)
}

export const argument = own
