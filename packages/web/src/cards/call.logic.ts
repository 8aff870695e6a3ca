/** A call in one line: its input, its output and how it ended. */
import type { Json, MessageCall } from "../feed/types.ts"
import { isFields } from "../parts/form/json.logic.ts"
import { durationOf } from "../parts/figures/time.logic.ts"
import { words } from "./words/en.ts"

type Fields = Readonly<Record<string, Json>>

const scalar = (value: Json): string | undefined => {
  if (typeof value === "string") return `“${value.length > 60 ? `${value.slice(0, 60)}…` : value}”`
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** Its first two scalars, in the order of the schema. */
export const inputSummary = (input: Json): string => {
  if (!isFields(input)) return scalar(input) ?? ""
  const parts = Object.entries(input).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.length === 0 ? [] : [`${value.length} ${name}`]
    const said = scalar(value)
    return said === undefined ? [] : [`${name} ${said}`]
  })
  return oneLine(parts.slice(0, 2).join(", "))
}

/** An MCP server's result: its structured content if it has any, otherwise its text. */
const contentOf = (output: Fields): Json | undefined => {
  if ("structuredContent" in output) return output["structuredContent"]
  const { content } = output
  if (!Array.isArray(content)) return undefined
  const first = content.find((one) => isFields(one) && one["type"] === "text")
  return isFields(first) ? first["text"] : undefined
}

const outputSummary = (output: Json): string => {
  if (Array.isArray(output)) return words.items(output.length)
  if (typeof output === "string") return oneLine(output.split("\n")[0]!).slice(0, 60)
  if (!isFields(output)) return output === null ? words.done : JSON.stringify(output)
  const inner = contentOf(output)
  if (inner !== undefined) return outputSummary(inner)
  for (const name of ["title", "name", "summary", "message", "text"])
    if (typeof output[name] === "string" && output[name] !== "") return oneLine(output[name]).slice(0, 60)
  for (const [name, value] of Object.entries(output))
    if (Array.isArray(value)) return value.length === 1 ? `1 ${name.replace(/s$/, "")}` : `${value.length} ${name}`
  const [first] = Object.entries(output)
  return first === undefined ? words.done : `${first[0]} ${scalar(first[1]) ?? "…"}`
}

export interface CallEnd {
  readonly tone: "good" | "bad" | "warn" | ""
  readonly icon: string | undefined
  readonly words: string
}

const messageOf = (error: Json): { readonly tag: string; readonly message: string } => {
  if (!isFields(error)) return { tag: "", message: typeof error === "string" ? error : JSON.stringify(error) }
  const said = error["message"] ?? error["detail"] ?? ""
  return {
    tag: typeof error["tag"] === "string" ? error["tag"] : "",
    message: typeof said === "string" ? said : JSON.stringify(said),
  }
}

export const errorWords = (call: MessageCall): string => (call.error === undefined ? "" : messageOf(call.error).message)

/** Always an icon and a word, never colour alone. */
export const endOf = (call: MessageCall, waits: boolean): CallEnd => {
  const { durationMs, rule, state } = call
  const took = durationMs === undefined ? "" : ` · ${durationOf(durationMs)}`
  if (call.error !== undefined) {
    const { message, tag } = messageOf(call.error)
    const first = oneLine(message).split(/[.:;]/)[0]!.slice(0, 60)
    if (state === "refused" || tag === "Forbidden" || tag === "Refused")
      return { tone: "bad", icon: "octagon-x", words: rule !== undefined ? words.refused(rule) : words.refusedBare }
    if (state === "expired") return { tone: "bad", icon: "hourglass", words: words.expired }
    if (state === "canceled") return { tone: "", icon: "square", words: words.canceled }
    if (tag === "OutcomeUnknown") return { tone: "bad", icon: "circle-alert", words: words.unknown }
    return { tone: "bad", icon: "x", words: words.failed(first) + took }
  }
  if (call.output !== undefined) return { tone: "good", icon: "check", words: outputSummary(call.output) + took }
  if (waits || state === "waiting")
    return {
      tone: "warn",
      icon: "hourglass",
      words: waits ? words.waitsPerson : words.waits,
    }
  return { tone: "", icon: undefined, words: words.running }
}
