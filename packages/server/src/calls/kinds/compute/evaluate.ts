/**
 * Evaluates an expression: JSON in, JSON out, within a budget of work. What it cannot do fails with a message. Pure.
 */
import type { Schema } from "effect"
import { fault, type Node } from "./expression.ts"
import { functions, kindOf, newText, numberOf, type Spend, textOf } from "./functions.ts"
import { nameOf, valueAt } from "../templates/template.ts"

type Json = Schema.Json
type Input = Readonly<Record<string, unknown>>

const maxWork = 1_000_000
/** The stack of a process holds many times this depth. */
const deepest = 1500

const isTrue = (value: Json): boolean => value !== false && value !== null && value !== 0 && value !== ""

/** Whether two JSON values are equal. */
const same = (one: Json, other: Json, spend: Spend): boolean => {
  const pairs: Array<readonly [Json | undefined, Json | undefined]> = [[one, other]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair
    spend(1)
    if (left === right) continue
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
    if (left === undefined || right === undefined || Array.isArray(left) !== Array.isArray(right)) return false
    const [keys, others] = [Object.keys(left), Object.keys(right)]
    if (keys.length !== others.length) return false
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false
      pairs.push([(left as Record<string, Json>)[key], (right as Record<string, Json>)[key]])
    }
  }
  return true
}

const finite = (value: Json, what: string): Json =>
  typeof value === "number" && !Number.isFinite(value) ? fault(`${what} has no finite number as its answer`) : value

const compared = (operator: string, left: Json, right: Json): boolean => {
  const alike = typeof left === typeof right && (typeof left === "number" || typeof left === "string")
  if (!alike) fault(`"${operator}" compares two numbers or two texts, not ${kindOf(left)} and ${kindOf(right)}`)
  const [one, other] = [left as number, right as number]
  switch (operator) {
    case "<":
      return one < other
    case "<=":
      return one <= other
    case ">":
      return one > other
    default:
      return one >= other
  }
}

const counted = (operator: string, left: Json, right: Json): number => {
  const [one, other] = [numberOf(left, `"${operator}"`), numberOf(right, `"${operator}"`)]
  switch (operator) {
    case "+":
      return one + other
    case "-":
      return one - other
    case "*":
      return one * other
    case "/":
      return one / other
    case "%":
      return one % other
    default:
      return one ** other
  }
}

const joined = (left: Json, right: Json, spend: Spend): Json => {
  if (typeof left !== "string" && typeof right !== "string") return counted("+", left, right)
  return newText(textOf(left, spend) + textOf(right, spend), spend)
}

const memberOf = (value: Json, key: Json): Json => {
  if ((typeof value === "string" || Array.isArray(value)) && key === "length") return value.length
  const found =
    typeof key === "number"
      ? Array.isArray(value)
        ? (value as ReadonlyArray<Json>)[key]
        : undefined
      : typeof key === "string" && !Array.isArray(value)
        ? (valueAt(value, [key]) as Json | undefined)
        : undefined
  return found === undefined ? fault(`${kindOf(value)} has no ${JSON.stringify(key).slice(0, 100)}`) : found
}

class Work {
  readonly input: Input
  left = maxWork
  depth = 0
  constructor(input: Input) {
    this.input = input
  }

  readonly spend: Spend = (work) => {
    this.left -= work + 1
    if (this.left < 0) fault("it is too much work; compute less at a time")
  }

  at(path: ReadonlyArray<string>, name: string): Json {
    const value = valueAt(this.input, path)
    return value === undefined ? fault(`"${name}" is missing`) : (value as Json)
  }

  run(node: Node): Json {
    this.spend(1)
    if (++this.depth > deepest) fault("it has too many operators in a row; use brackets, or sum of a list")
    const value = this.step(node)
    this.depth--
    return value
  }

  step(node: Node): Json {
    switch (node.kind) {
      case "value":
        return node.value
      case "input":
        return this.input as Json
      case "place":
        return this.at(node.place.path, nameOf(node.place))
      case "text":
        return node.parts.reduce<string>((text, part) => {
          const said = typeof part === "string" ? part : textOf(this.at(part.path, nameOf(part)), this.spend)
          return newText(text + said, this.spend)
        }, "")
      case "list":
        return node.items.map((item) => this.run(item))
      case "member":
        return memberOf(this.run(node.of), this.run(node.key))
      case "choice":
        return this.run(isTrue(this.run(node.when)) ? node.yes : node.no)
      case "unary": {
        const value = this.run(node.of)
        if (node.operator === "!") return !isTrue(value)
        const number = numberOf(value, `"${node.operator}"`)
        return node.operator === "-" ? -number : number
      }
      case "binary":
        return this.binary(node)
      case "call": {
        const { least, most, run } = functions.get(node.name) ?? fault(`there is no function "${node.name}"`)
        const given = node.given.map((one) => this.run(one))
        if (given.length < least || given.length > most)
          fault(
            `${node.name} takes ${least === most ? least : `${least} to ${most}`} values, and there are ${given.length}`,
          )
        return finite(run(given, this.spend), node.name)
      }
    }
  }

  binary({ left, operator, right }: Extract<Node, { kind: "binary" }>): Json {
    const one = this.run(left)
    switch (operator) {
      case "&&":
        return isTrue(one) ? this.run(right) : one
      case "||":
        return isTrue(one) ? one : this.run(right)
      case "??":
        return one === null ? this.run(right) : one
    }
    const other = this.run(right)
    switch (operator) {
      case "==":
      case "===":
        return same(one, other, this.spend)
      case "!=":
      case "!==":
        return !same(one, other, this.spend)
      case "<":
      case "<=":
      case ">":
      case ">=":
        return compared(operator, one, other)
      case "+":
        return finite(joined(one, other, this.spend), '"+"')
      default:
        return finite(counted(operator, one, other), `"${operator}"`)
    }
  }
}

/** Throws only ExpressionFault. */
export const evaluate = (node: Node, input: Input): Json => new Work(input).run(node)
