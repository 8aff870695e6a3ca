/** What a decision is to the one who looks at it, and what may be done with it. */
import type { Decision, Json } from "../../feed/types.ts"
import { isFields } from "../../parts/form/json.logic.ts"

export type Stand =
  | "mine"
  /** Somebody else's to give. */
  | "foreign"
  /** I have approved; another one must. */
  | "halfway"
  | "closed"

export const standOf = (decision: Decision, me: string): Stand => {
  if (decision.state !== "open") return "closed"
  if (decision.approvals.includes(me)) return "halfway"
  return decision.mayAnswer.includes(me) ? "mine" : "foreign"
}

export const isCritical = (decision: Decision): boolean => decision.call?.riskLevel === "critical"

/** What needs two people, or came by a link, is approved call by call. */
export const mayReach = (decision: Decision, byLink: boolean): boolean =>
  decision.kind === "approval" && decision.people === 1 && !byLink

export interface Argument {
  readonly name: string
  readonly value: Json
}

/** Every argument, in the order of the schema; what the schema does not know comes last. */
export const argumentsOf = (decision: Decision): ReadonlyArray<Argument> => {
  const input = decision.call?.input
  if (!isFields(input)) return input === undefined || input === null ? [] : [{ name: "input", value: input }]
  const properties = isFields(decision.schema) ? decision.schema["properties"] : undefined
  const order = isFields(properties) ? Object.keys(properties) : []
  const names = [
    ...order.filter((name) => Object.hasOwn(input, name)),
    ...Object.keys(input).filter((name) => !order.includes(name)),
  ]
  return names.map((name) => ({ name, value: input[name]! }))
}

/** What could be taken for something other than the text it is. */
const isAmbiguous = (text: string): boolean => {
  if (text === "" || text !== text.trim()) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** No two values look the same: a text is shown as it is, unless it reads like another value. */
export const textOf = (value: Json): string => {
  if (typeof value === "string") return isAmbiguous(value) ? JSON.stringify(value) : value
  return JSON.stringify(value, null, typeof value === "object" ? 2 : 0)
}

const mostNames = 20

/** A short list of short texts, each to be drawn in a frame of its own: so no two lists look the same either. */
export const namesIn = (value: Json): ReadonlyArray<string> | undefined => {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostNames) return undefined
  const plain = value.filter(
    (one): one is string =>
      typeof one === "string" && one.length <= 80 && !isAmbiguous(one) && !/\s{2}|[\r\n]/.test(one),
  )
  return plain.length === value.length ? plain : undefined
}

/** What is shown at first, and how much is not. */
export const cut = (
  text: string,
  lines = 6,
  signs = 600,
): { readonly shown: string; readonly lines: number; readonly signs: number } => {
  const all = text.split("\n")
  const first = all.slice(0, lines).join("\n")
  const shown = first.length > signs ? first.slice(0, signs) : first
  return { shown, lines: all.length - Math.min(all.length, lines), signs: text.length - shown.length }
}

/** The fields of an input that differ, as text before and after. */
export const changesIn = (before: Json | undefined, after: Json | undefined) => {
  const [was, is] = [isFields(before) ? before : {}, isFields(after) ? after : {}]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  return names
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
    .map((name) => ({
      name,
      before: was[name] === undefined ? "" : textOf(was[name]),
      after: is[name] === undefined ? "" : textOf(is[name]),
    }))
}

/** The host of an address a person is asked to open; only addresses of the web are ever offered. */
export const hostOf = (url: string): string | undefined => {
  try {
    const { host, protocol } = new URL(url)
    return protocol === "https:" || protocol === "http:" ? host : undefined
  } catch {
    return undefined
  }
}
