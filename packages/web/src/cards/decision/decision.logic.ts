/** What a decision means to its viewer, and what the viewer may do with it. */
import { type NewAnswer, type Reach, visibleLines } from "@stoa/contract"
import { isMine } from "../../feed/myDecisions.logic.ts"
import type { Decision, Json } from "../../feed/types.ts"
import { isFields } from "../../parts/form/json.logic.ts"

export type ViewerState =
  | "mine"
  /** For somebody else to answer. */
  | "foreign"
  /** I have approved; another person must, too. */
  | "halfway"
  | "closed"

export const viewerStateOf = (decision: Decision, me: string): ViewerState => {
  if (decision.state !== "open") return "closed"
  if (decision.approvals.includes(me)) return "halfway"
  return isMine(decision, me) ? "mine" : "foreign"
}

export const isCritical = (decision: Decision): boolean => decision.call?.riskLevel === "critical"

/** An approval says what was shown: the house refuses it for anything else. */
export const boundTo = ({ inputDigest }: Pick<Decision, "inputDigest">, given: NewAnswer): NewAnswer =>
  given.verdict === "approve" && inputDigest !== undefined ? { ...given, inputDigest } : given

/** Whether the house takes an edited input from this viewer. */
export const mayEdit = ({ options }: Decision): boolean => options?.edit === true

export type LongReach = Exclude<Reach, "once">

/** How far beyond this call the house lets this viewer approve. */
export const longReachesOf = ({ options }: Decision): ReadonlyArray<LongReach> =>
  (options?.reaches ?? []).filter((reach) => reach !== "once")

/** The question in a few words, for lists. An approval without a call is of a change of rights. */
export const decisionSummary = ({ call, kind, question }: Pick<Decision, "call" | "kind" | "question">): string =>
  kind === "approval" && call !== null ? call.tool : visibleLines(question).join(" ")

export interface Argument {
  readonly name: string
  readonly value: Json
}

/** Every argument, in the order of the schema; those not in the schema come last. */
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

/** Text that could be mistaken for another value. */
const isAmbiguous = (text: string): boolean => {
  if (text === "" || text !== text.trim()) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** No two values look the same: a text is shown unquoted, unless it reads like another value. */
export const textOf = (value: Json): string => {
  if (typeof value === "string") return isAmbiguous(value) ? JSON.stringify(value) : value
  return JSON.stringify(value, null, typeof value === "object" ? 2 : 0)
}

const maxNames = 20

/** A short list of short texts, each drawn in its own frame, so that no two lists look the same either. */
export const namesIn = (value: Json): ReadonlyArray<string> | undefined => {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxNames) return undefined
  const plain = value.filter(
    (one): one is string =>
      typeof one === "string" && one.length <= 80 && !isAmbiguous(one) && !/\s{2}|[\r\n]/.test(one),
  )
  return plain.length === value.length ? plain : undefined
}

/** The part that is shown at first, and how much is left. */
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

/** The host of an address a person is asked to open; only web addresses are offered. */
export const hostOf = (url: string): string | undefined => {
  try {
    const { host, protocol } = new URL(url)
    return protocol === "https:" || protocol === "http:" ? host : undefined
  } catch {
    return undefined
  }
}
