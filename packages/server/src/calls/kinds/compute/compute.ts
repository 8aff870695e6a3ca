/**
 * A tool that computes (S1-29). The expression is the operator's, with input as values in it. If it consists of one
 * single placeholder, the whole expression comes from the input and is not trusted. Both are evaluated by the same
 * small language, which can do nothing but compute. Its output is the value.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"
import type { Configured, Kind } from "../Kind.ts"
import { evaluate } from "./evaluate.ts"
import { ExpressionFault, fault, type Node, readExpression } from "./expression.ts"
import { functionNames } from "./functions.ts"
import { nameOf, type AnyPlaceholder, readText, valueAt } from "../templates/template.ts"

type Tool = Configured<"compute">
type Input = Readonly<Record<string, unknown>>

/** Of an expression that comes from the input. */
const longest = 10_000

/** The single placeholder that is the whole expression, if it is one. */
const wholePlace = (text: string): AnyPlaceholder | undefined => {
  const faults: Array<string> = []
  const [place, ...more] = readText(text.trim(), "", (_, message) => faults.push(message))
  return faults.length === 0 && more.length === 0 && typeof place === "object" ? place : undefined
}

const supplied = (value: unknown, name: string): Node => {
  if (typeof value === "number" || typeof value === "boolean") return { kind: "value", value }
  if (typeof value !== "string") return fault(value === undefined ? `"${name}" is missing` : `"${name}" is not text`)
  if (value.length > longest) return fault(`it has more than ${longest} characters`)
  return readExpression(value, functionNames, false)
}

/** Returns a function that gives a call's expression; parses as much as possible before there is a call. */
const read = ({ execution }: Tool): ((input: Input) => Node) => {
  const place = wholePlace(execution.expression)
  if (place?.from === "input") return (input) => supplied(valueAt(input, place.path), nameOf(place))
  const node = readExpression(execution.expression, functionNames, true)
  return () => node
}

/** Turns an ExpressionFault, the only error that expressions throw, into a value. */
const caught = <A>(compute: () => A): { readonly value: A } | { readonly fault: string } => {
  try {
    return { value: compute() }
  } catch (error) {
    if (error instanceof ExpressionFault) return { fault: error.message }
    throw error
  }
}

export const computeKind: Kind<"compute"> = {
  effects: "none",
  readOnly: true,
  faults: (tool) => {
    const reading = caught(() => read(tool))
    return "fault" in reading ? [{ path: "execution.expression", message: reading.fault }] : []
  },
  handler: (tool) => {
    const reading = caught(() => read(tool))
    return (input) =>
      Effect.suspend(() => {
        const outcome = "fault" in reading ? reading : caught(() => evaluate(reading.value(input), input))
        return "value" in outcome
          ? Effect.succeed(outcome.value)
          : new ToolExecutionError({
              message: `The expression could not be computed: ${outcome.fault}.`,
              toolName: tool.form.name,
            })
      })
  },
  preview: () => null,
}
