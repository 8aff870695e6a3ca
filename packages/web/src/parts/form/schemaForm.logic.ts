/** How a JSON Schema is drawn: which field, its initial value, and what is invalid, in words. */
import { Validator } from "@cfworker/json-schema"
import type { Json } from "../../feed/types.ts"
import { isFields } from "./json.logic.ts"
import { words } from "./words/en.ts"

export type JsonSchema = Readonly<Record<string, unknown>>
type Fields = Readonly<Record<string, Json>>

/** Follows a reference into the same document; any other reference cannot be drawn. */
const resolved = (schema: unknown, root: JsonSchema, depth = 0): JsonSchema => {
  if (!isFields(schema)) return {}
  const ref = schema["$ref"]
  if (typeof ref !== "string" || depth > 8) return schema
  if (!ref.startsWith("#")) return {}
  const found = ref
    .slice(1)
    .split("/")
    .filter((part) => part !== "")
    .reduce<unknown>(
      (at, part) =>
        isFields(at) ? at[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")] : undefined,
      root,
    )
  return resolved(found, root, depth + 1)
}

interface Choice {
  readonly value: Json
  readonly name: string
}

export type FieldShape =
  | { readonly as: "text"; readonly type: string; readonly multi: boolean; readonly secret: boolean }
  | { readonly as: "number"; readonly whole: boolean }
  | { readonly as: "boolean" }
  | { readonly as: "choice"; readonly choices: ReadonlyArray<Choice> }
  | { readonly as: "chips"; readonly items: JsonSchema }
  | { readonly as: "rows"; readonly items: JsonSchema }
  | { readonly as: "object"; readonly fields: ReadonlyArray<readonly [string, JsonSchema]> }
  | { readonly as: "fixed"; readonly value: Json }
  | { readonly as: "json" }

const inputTypes: Readonly<Record<string, string>> = {
  date: "date",
  "date-time": "text",
  time: "time",
  email: "email",
  uri: "url",
}

const nameOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value))

const choicesOf = (schema: JsonSchema): ReadonlyArray<Choice> | undefined => {
  if (Array.isArray(schema["enum"])) {
    const names = Array.isArray(schema["enumNames"]) ? (schema["enumNames"] as ReadonlyArray<unknown>) : []
    return (schema["enum"] as ReadonlyArray<Json>).map((value, at) => ({
      value,
      name: typeof names[at] === "string" ? names[at] : nameOf(value),
    }))
  }
  const one = schema["oneOf"] ?? schema["anyOf"]
  if (!Array.isArray(one) || one.length === 0 || !one.every((it) => isFields(it) && "const" in it)) return undefined
  return (one as ReadonlyArray<Fields>).map((it) => ({
    value: it["const"]!,
    name: typeof it["title"] === "string" ? it["title"] : nameOf(it["const"]!),
  }))
}

/** `["string", "null"]` is an optional string. */
const typeOf = (schema: JsonSchema): string | undefined => {
  const { type } = schema
  if (typeof type === "string") return type
  const some = Array.isArray(type) ? type.filter((one) => one !== "null") : []
  return some.length === 1 && typeof some[0] === "string" ? some[0] : undefined
}

const undrawable = ["if", "patternProperties", "allOf", "not", "dependentSchemas"]

export const fieldShapeOf = (given: JsonSchema, root: JsonSchema, name = ""): FieldShape => {
  const schema = resolved(given, root)
  if ("const" in schema) return { as: "fixed", value: schema["const"] as Json }
  const choices = choicesOf(schema)
  if (choices !== undefined) return { as: "choice", choices }
  if ("anyOf" in schema || "oneOf" in schema || undrawable.some((key) => key in schema)) return { as: "json" }
  switch (typeOf(schema)) {
    case "string": {
      const most = schema["maxLength"]
      const type = inputTypes[String(schema["format"])] ?? "text"
      return {
        as: "text",
        type,
        multi: type === "text" && (schema["format"] === "multiline" || (typeof most === "number" && most > 120)),
        secret: /pass(word|phrase)|secret|api[_-]?key|token/i.test(name),
      }
    }
    case "number":
    case "integer":
      return { as: "number", whole: typeOf(schema) === "integer" }
    case "boolean":
      return { as: "boolean" }
    case "array": {
      const items = resolved(schema["items"], root)
      const inner = fieldShapeOf(items, root)
      return inner.as === "text" || inner.as === "number"
        ? { as: "chips", items }
        : inner.as === "object" || inner.as === "choice"
          ? { as: "rows", items }
          : { as: "json" }
    }
    case "object":
      return isFields(schema["properties"])
        ? {
            as: "object",
            fields: Object.entries(schema["properties"]).map(([key, one]) => [key, resolved(one, root)] as const),
          }
        : { as: "json" }
    default:
      return isFields(schema["properties"]) ? fieldShapeOf({ ...schema, type: "object" }, root) : { as: "json" }
  }
}

/** The initial value of a form: defaults, and empty values for required fields. */
export const initialValue = (given: JsonSchema, root: JsonSchema): Json | undefined => {
  const schema = resolved(given, root)
  if ("default" in schema) return schema["default"] as Json
  const how = fieldShapeOf(schema, root)
  if (how.as === "fixed") return how.value
  if (how.as !== "object") return undefined
  return Object.fromEntries(
    how.fields.flatMap(([name, one]) => {
      const value = initialValue(one, root)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

export interface Issue {
  /** In the house's spelling: `to.0`, empty for the whole. */
  readonly path: string
  readonly message: string
}

const wordsFor = (keyword: string, schema: JsonSchema, said: string): string => {
  const of = (key: string) => schema[key] as string | number
  switch (keyword) {
    case "required":
      return words.required
    case "minLength":
      return words.minLength(Number(of("minLength")))
    case "maxLength":
      return words.maxLength(Number(of("maxLength")))
    case "minimum":
      return words.minimum(Number(of("minimum")))
    case "maximum":
      return words.maximum(Number(of("maximum")))
    case "format":
      return words.format(String(of("format")))
    case "pattern":
      return words.pattern(String(of("pattern")))
    case "enum":
      return words.notAmong
    case "type":
      return words.type(String(schema["type"]))
    default:
      return said
  }
}

const pathOf = (pointer: string): ReadonlyArray<string> =>
  pointer
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))

const at = (root: JsonSchema, pointer: string): JsonSchema => {
  const found = pathOf(pointer).reduce<unknown>(
    (one, part) => (isFields(one) ? one[part] : Array.isArray(one) ? one[Number(part)] : undefined),
    root,
  )
  return isFields(found) ? found : {}
}

const leaves = new Set(["properties", "items", "prefixItems", "$ref", "allOf", "anyOf", "oneOf"])

/** What is invalid, at its field. The house validates again: this only saves a round trip. */
export const issuesOf = (schema: JsonSchema, value: unknown): ReadonlyArray<Issue> => {
  const { errors, valid } = new Validator(schema, "2020-12", false).validate(value)
  if (valid) return []
  const seen = new Set<string>()
  return errors
    .filter(({ keyword }) => !leaves.has(keyword))
    .flatMap(({ error, instanceLocation, keyword, keywordLocation }) => {
      const missing = keyword === "required" ? /"([^"]+)"/.exec(error)?.[1] : undefined
      const path = [...pathOf(instanceLocation), ...(missing === undefined ? [] : [missing])].join(".")
      if (seen.has(path)) return []
      seen.add(path)
      const place = keywordLocation.slice(0, keywordLocation.lastIndexOf("/"))
      return [{ path, message: wordsFor(keyword, at(schema, place), error) }]
    })
}

/** Typed JSON, or where it stops being JSON. */
export const parseJson = (text: string): { readonly value: Json } | { readonly wrong: string } => {
  try {
    return { value: JSON.parse(text) as Json }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const place = /position (\d+)/.exec(said)?.[1]
    const line = place === undefined ? undefined : text.slice(0, Number(place)).split("\n").length
    return { wrong: words.notJson(line) }
  }
}
