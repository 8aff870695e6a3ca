/** The fields of an input schema as a form has them, and the input that a form's texts say. Pure. */
import type { Json } from "../../feed/types.ts"

export interface Field {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly required: boolean
  readonly kind: "text" | "number" | "json"
  readonly choices?: ReadonlyArray<string>
}
export type Values = Readonly<Record<string, string>>

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (name: string, schema: Fields, required: boolean): Field => {
  const { description, enum: values, title, type } = schema
  const choices = type === "boolean" ? ["true", "false"] : Array.isArray(values) ? values.map(String) : undefined
  return {
    name,
    title: typeof title === "string" ? title : name,
    description: typeof description === "string" ? description : "",
    required,
    kind:
      type === "string" || choices !== undefined ? "text" : type === "number" || type === "integer" ? "number" : "json",
    ...(choices === undefined ? {} : { choices }),
  }
}

export const fieldsOf = (schema: unknown): ReadonlyArray<Field> => {
  if (!isObject(schema) || !isObject(schema["properties"])) return []
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  return Object.entries(schema["properties"]).map(([name, one]) =>
    fieldOf(name, isObject(one) ? one : {}, required.includes(name)),
  )
}

const valueOf = ({ choices, kind }: Field, text: string): Json => {
  if (choices !== undefined && (text === "true" || text === "false")) return text === "true"
  if (kind === "number") return Number(text)
  return kind === "json" ? (JSON.parse(text) as Json) : text
}

/** What was left empty is not sent. */
export const inputFrom = (fields: ReadonlyArray<Field>, values: Values): Record<string, Json> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const text = values[field.name] ?? ""
      return text === "" ? [] : [[field.name, valueOf(field, text)]]
    }),
  )
