/** The input of a v1 tool as a JSON Schema, and its placeholders in the present spelling. */
import { isObject, type JsonObject, type JsonSchema, own, placeholderText } from "@stoa/contract"

type Note = (text: string) => void

const isSchema = (value: JsonObject) =>
  ["$ref", "properties", "$schema", "anyOf", "oneOf", "allOf"].some((key) => key in value) || value["type"] === "object"

/** `[{name, type, description, required}]`, or `{name: {type, description, required}}`. */
const fromNamed = (entries: ReadonlyArray<readonly [string, unknown]>): JsonSchema => {
  const properties: Record<string, unknown> = {}
  const required: Array<string> = []
  for (const [name, value] of entries) {
    const {
      required: must,
      name: _name,
      ...schema
    } = isObject(value) ? value : { type: typeof value === "string" ? value : "string" }
    Object.defineProperty(properties, name, { value: schema, enumerable: true, configurable: true, writable: true })
    if (must === true) required.push(name)
  }
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) }
}

const schemaOf = (given: unknown, note: Note): JsonSchema => {
  if (given === undefined) {
    note("takes no input: it had no parameters")
    return { type: "object", properties: {} }
  }
  if (Array.isArray(given)) {
    note("made inputSchema from its list of parameters")
    return fromNamed(
      given.flatMap((one) => (isObject(one) && typeof one["name"] === "string" ? [[one["name"], one] as const] : [])),
    )
  }
  if (!isObject(given)) {
    note("left out parameters that are no schema")
    return { type: "object", properties: {} }
  }
  if (isSchema(given)) return given
  note("made inputSchema from its named parameters")
  return fromNamed(Object.entries(given))
}

/** The target that v1 put into a display tool's input is removed, unless the tool itself sends it somewhere (S1-91). */
export const schemaFrom = (given: unknown, execution: unknown, note: Note): JsonSchema => {
  const schema = schemaOf(given, note)
  const properties = own(schema, "properties")
  if (!isObject(properties)) return schema
  const sent = JSON.stringify(execution ?? null)
  const gone = ["targetSpaceId", "spaceId"].filter((key) => Object.hasOwn(properties, key) && !sent.includes(key))
  if (gone.length === 0) return schema
  note(`left out its input ${gone.join(", ")}: a tool does not name a space`)
  const required = own(schema, "required")
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => !gone.includes(key))),
    ...(Array.isArray(required) ? { required: required.filter((key) => !gone.includes(key)) } : {}),
  }
}

/** `{{x}}`, `{{args.x}}` and `{{ input.x }}` are `{{input.x}}`; the environment is `${env.NAME}`. */
const rewrite = (text: string, names: ReadonlySet<string>, seen: (old: string, now: string) => string): string =>
  text
    .replace(/\{\{\s*env\.(\w+)\s*\}\}|\$\{process\.env\.(\w+)\}/g, (whole, a, b) =>
      seen(whole, placeholderText({ from: "env", name: String(a ?? b) })),
    )
    .replace(/\{\{\s*(?:(?:args|params|parameters|input)\.)?([\w.-]+)\s*\}\}/g, (whole, path: string) =>
      names.has(path.split(".")[0]!) ? seen(whole, `{{input.${path}}}`) : whole,
    )

const mapText = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((one) => mapText(one, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapText(one, change)]))
}

export const placeholders = (
  execution: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  note: Note,
): Readonly<Record<string, unknown>> => {
  const properties = own(schema, "properties")
  const names = new Set(isObject(properties) ? Object.keys(properties) : [])
  const changed = new Set<string>()
  // An agent's texts are not rewritten.
  const { agentConfig, ...ours } = execution
  const seen = (old: string, now: string) => {
    if (now !== old) changed.add(`${old} is now ${now}`)
    return now
  }
  const result = mapText(ours, (text) => rewrite(text, names, seen))
  if (changed.size > 0) note(`wrote its placeholders in today's spelling: ${[...changed].join("; ")}`)
  return { ...(result as object), ...(agentConfig === undefined ? {} : { agentConfig }) }
}
