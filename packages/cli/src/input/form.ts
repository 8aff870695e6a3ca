/**
 * A form at the command line: its fields one by one, from flags or from answers at the terminal. Pure, except for
 * asking.
 */
import { quoted, visible, visibleJson } from "@stoa/contract"

type Json = Readonly<Record<string, unknown>>

export interface Field {
  readonly name: string
  readonly schema: Json
  readonly isRequired: boolean
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields of a schema; empty if it is not an object with fields: then only --value fills it. */
export const fieldsOf = (schema: Json | undefined): ReadonlyArray<Field> => {
  const properties = schema?.["properties"]
  if (!isObject(properties)) return []
  const required = Array.isArray(schema?.["required"]) ? (schema["required"] as ReadonlyArray<unknown>) : []
  return Object.entries(properties).map(([name, one]) => ({
    name,
    schema: isObject(one) ? one : {},
    isRequired: required.includes(name),
  }))
}

const choicesOf = ({ schema }: Field): ReadonlyArray<unknown> | undefined =>
  Array.isArray(schema["enum"]) ? (schema["enum"] as ReadonlyArray<unknown>) : undefined

const typeOf = ({ schema }: Field): string => (typeof schema["type"] === "string" ? schema["type"] : "any")

/** What a field requires, in a few words. Its own texts are quoted: they are not the house's. */
export const wordsOf = (field: Field): string => {
  const choices = choicesOf(field)
  const { description } = field.schema
  return [
    field.isRequired ? "required" : "optional",
    choices === undefined ? visible(typeOf(field)) : `one of ${choices.map((one) => visibleJson(one)).join(", ")}`,
    ...("default" in field.schema ? [`default ${visibleJson(field.schema["default"])}`] : []),
    ...(typeof description === "string" ? [`"${visible(description)}"`] : []),
  ].join(", ")
}

/** Converts typed text to the schema's type. The house validates it. */
export const read = (field: Field, text: string): { readonly value: unknown } | { readonly fault: string } => {
  const choices = choicesOf(field)
  if (choices !== undefined) {
    const found = choices.find((one) => one === text || JSON.stringify(one) === text)
    return found === undefined
      ? { fault: `${quoted(field.name)} is one of ${choices.map((one) => visibleJson(one)).join(", ")}` }
      : { value: found }
  }
  const json = (): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }
  switch (typeOf(field)) {
    case "string":
      return { value: text }
    case "number":
    case "integer": {
      const value = text.trim() === "" ? Number.NaN : Number(text)
      return Number.isFinite(value) && (typeOf(field) === "number" || Number.isInteger(value))
        ? { value }
        : { fault: `${quoted(field.name)} is ${typeOf(field) === "integer" ? "a whole number" : "a number"}` }
    }
    case "boolean": {
      const yes = /^(y|yes|true)$/i.test(text)
      return yes || /^(n|no|false)$/i.test(text) ? { value: yes } : { fault: `${quoted(field.name)} is yes or no` }
    }
    case "any":
      return { value: json() ?? text }
    default: {
      const value = json()
      return value === undefined ? { fault: `${quoted(field.name)} is ${typeOf(field)}, written as JSON` } : { value }
    }
  }
}

/** `name=value` of each --field. */
export const fromFlags = (
  fields: ReadonlyArray<Field>,
  given: ReadonlyArray<string>,
): { readonly value: Json } | { readonly fault: string } => {
  const value: Record<string, unknown> = {}
  for (const one of given) {
    const at = one.indexOf("=")
    const name = one.slice(0, Math.max(0, at))
    const field = fields.find((known) => known.name === name)
    if (field === undefined)
      return {
        fault: `--field is NAME=VALUE, and NAME one of ${fields.map((known) => quoted(known.name)).join(", ") || "none: give --value JSON"}`,
      }
    const found = read(field, one.slice(at + 1))
    if ("fault" in found) return { fault: found.fault }
    value[name] = found.value
  }
  return { value }
}

/** Asks for one field after the other. An empty line skips an optional field, or takes the default. */
export const fill = async (
  fields: ReadonlyArray<Field>,
  ask: (prompt: string) => Promise<string>,
): Promise<Record<string, unknown>> => {
  const value: Record<string, unknown> = {}
  for (const field of fields)
    for (let fault = ""; ;) {
      const text = await ask(`${fault === "" ? "" : `${fault}.\n`}${quoted(field.name)} (${wordsOf(field)}): `)
      if (text === "" && "default" in field.schema) value[field.name] = field.schema["default"]
      if (text === "" && ("default" in field.schema || !field.isRequired)) break
      const found = text === "" && typeOf(field) !== "string" ? { fault: "It is required" } : read(field, text)
      if ("value" in found) {
        value[field.name] = found.value
        break
      }
      fault = found.fault
    }
  return value
}

interface Asking {
  readonly kind: string
  readonly schema?: Json
}
type Answer = { readonly verdict: "approve" | "deny" } | { readonly verdict: "submit"; readonly value: unknown }

const isYes = (text: string): boolean => /^y(es)?$/i.test(text)

/** The answer of a person at the terminal, or nothing: only a yes is a yes. */
export const answerFrom = async (
  { kind, schema }: Asking,
  ask: (prompt: string) => Promise<string>,
): Promise<Answer | undefined> => {
  const fields = kind === "approval" ? [] : fieldsOf(schema)
  const isValue = kind !== "approval" && fields.length === 0
  const said = await ask(
    kind === "approval"
      ? "Approve? (y, n), empty to leave it open: "
      : isValue
        ? "A value as JSON, n to decline, empty to leave it open: "
        : "Fill it in? (y, n to decline, empty to leave it open): ",
  )
  if (/^n(o)?$/i.test(said)) return { verdict: "deny" }
  if (isValue) return said === "" ? undefined : { verdict: "submit", value: JSON.parse(said) }
  if (!isYes(said)) return undefined
  return kind === "approval" ? { verdict: "approve" } : { verdict: "submit", value: await fill(fields, ask) }
}
