/**
 * What an operation takes, as one flat object: each parameter under its own name, the JSON body as `body`. If a name is
 * taken, its location is put in front (`query_id`). What cannot be sent is left out if it is optional, otherwise the
 * operation is skipped.
 */
import { isObject, type JsonObject, own } from "@stoa/contract"
import { follow } from "./references.ts"
import { inlined, type Schemas } from "./schemas.ts"

export const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Set by us or by the security scheme, whatever the document lists. */
const ours = new Set(["accept", "content-type", "authorization", "host", "content-length", "cookie"])

export interface Input {
  readonly properties: Map<string, unknown>
  readonly required: Set<string>
  /** From a name in the path to its placeholder. */
  readonly path: Map<string, string>
  readonly query: Map<string, string>
  readonly headers: Map<string, string>
  body?: string
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly item: JsonObject
  readonly operation: JsonObject
}

/** Headers and query parameters that are filled elsewhere. */
export interface Filled {
  readonly headers: ReadonlyMap<string, string>
  readonly query: ReadonlyMap<string, string>
}

/** The state of reading one operation. */
export interface Reading {
  readonly root: JsonObject
  readonly schemas: Schemas
  readonly refs: Set<string>
  /** Why the operation cannot be imported; empty if it can. */
  readonly faults: Array<string>
  readonly notes: Array<string>
}

/** Written as `{{input.x}}`. */
const placeholder = (name: string, required: boolean): string =>
  `{{input${/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? `.${name}` : `["${name}"]`}${required ? "" : "?"}}}`

const nameable = (name: string) => name !== "" && name.length <= 200 && !/["{}\p{Cc}]/u.test(name)

/** The type of a schema that has one, ignoring "null". */
const typeOf = (schema: unknown): unknown => {
  const type = isObject(schema) ? own(schema, "type") : undefined
  return Array.isArray(type) ? type.find((one) => one !== "null") : type
}

const listed = (reading: Reading, value: unknown): ReadonlyArray<JsonObject> =>
  (Array.isArray(value) ? value : []).flatMap((one: unknown) => {
    const found = follow(reading.root, one)
    if ("fault" in found) reading.faults.push(`a parameter ${found.fault}`)
    return "fault" in found || !isObject(found.value) ? [] : [found.value]
  })

/** Why our http tools cannot send a value of this shape there. */
const unsendable = (where: string, parameter: JsonObject, schema: unknown): string | undefined => {
  const type = typeOf(schema)
  const whole = own(parameter, "content") !== undefined
  const style = own(parameter, "style")
  if (where === "path" && (type === "array" || type === "object")) return `is an ${type} in the path`
  if (where === "header" && (type === "array" || type === "object")) return `is an ${type} in a header`
  if (where !== "query" || whole) return undefined
  if (type === "object") return "is an object in the query"
  const explode = own(parameter, "explode") ?? (style === undefined || style === "form")
  return type === "array" && explode !== true ? "is a list in one query value" : undefined
}

const contentSchema = (parameter: JsonObject): unknown => {
  const content = own(parameter, "content")
  const media = isObject(content) ? Object.values(content)[0] : undefined
  return isObject(media) ? own(media, "schema") : own(parameter, "schema")
}

const add = (reading: Reading, input: Input, parameter: JsonObject): void => {
  const [name, where, description] = [own(parameter, "name"), own(parameter, "in"), own(parameter, "description")]
  if (typeof name !== "string" || typeof where !== "string") return void reading.faults.push("a parameter has no name")
  const required = where === "path" || own(parameter, "required") === true
  if (where === "header" && ours.has(name.toLowerCase())) return
  const given = inlined(reading.root, contentSchema(parameter), reading.faults)
  const fault =
    where === "path" || where === "query" || where === "header"
      ? nameable(name) && (where !== "header" || headerName.test(name))
        ? unsendable(where, parameter, given)
        : "has a name that cannot be sent"
      : where === "cookie"
        ? "is a cookie"
        : "is in no place we know"
  if (fault !== undefined) {
    const said = `its parameter "${name.slice(0, 60)}" ${fault}`
    return void (required ? reading.faults.push(said) : reading.notes.push(`${said}; left out`))
  }
  const key = input.properties.has(name) ? `${where}_${name}` : name
  const schema = reading.schemas.convert(given, reading.refs, reading.faults)
  const described = typeof description === "string" && isObject(schema) && own(schema, "description") === undefined
  input.properties.set(key, described ? { ...schema, description: description.slice(0, 2000) } : schema)
  if (required) input.required.add(key)
  const target = where === "path" ? input.path : where === "query" ? input.query : input.headers
  target.set(name, placeholder(key, required))
}

const isJson = (type: string) =>
  /^(application\/json|application\/[\w.+-]+\+json|\*\/\*|application\/\*)\s*(;|$)/i.test(type)

const addBody = (reading: Reading, input: Input, value: unknown, method: string): void => {
  const found = follow(reading.root, value)
  if ("fault" in found) return void reading.faults.push(`its body ${found.fault}`)
  if (!isObject(found.value)) return
  const content = own(found.value, "content")
  const types = isObject(content) ? Object.keys(content) : []
  const type = types.find((one) => /^application\/json/i.test(one)) ?? types.find(isJson)
  const required = own(found.value, "required") === true
  const refuse = (why: string) => void (required ? reading.faults.push(why) : reading.notes.push(`${why}; left out`))
  if (method === "GET" || method === "HEAD") return refuse(`its body, which a ${method} cannot have`)
  if (type === undefined) {
    const why = `its body is ${types.join(", ").slice(0, 100) || "of no type"}, not JSON`
    // A file or a form is the purpose of such an operation: without it the tool would do something else.
    return types.length > 0 ? void reading.faults.push(why) : refuse(why)
  }
  const media = (content as JsonObject)[type]
  const key = input.properties.has("body") ? "requestBody" : "body"
  if (input.properties.has(key)) return refuse("its body, for which no parameter name is free")
  const given = inlined(reading.root, isObject(media) ? own(media, "schema") : undefined, reading.faults)
  // An http tool sends a string as it is, without the quotes that would make it JSON.
  if (typeOf(given) === "string") return refuse("its body is one JSON text")
  input.properties.set(key, reading.schemas.convert(given, reading.refs, reading.faults))
  if (required) input.required.add(key)
  input.body = placeholder(key, required)
  // An http tool sends `application/json` by default.
  if (/\+json/i.test(type) && headerValue.test(type)) input.headers.set("Content-Type", type)
}
const headerValue = /^[\w.+/;= -]+$/

/** Header names are case-insensitive. */
const slotOf = (parameter: JsonObject): string => {
  const [where, name] = [own(parameter, "in"), own(parameter, "name")]
  return JSON.stringify([where, where === "header" && typeof name === "string" ? name.toLowerCase() : name])
}

const isFilled = (parameter: JsonObject, { headers, query }: Filled): boolean => {
  const slots = [
    ...[...query.keys()].map((name) => slotOf({ in: "query", name })),
    ...[...headers.keys()].map((name) => slotOf({ in: "header", name })),
  ]
  return slots.includes(slotOf(parameter))
}

export const inputOf = (reading: Reading, one: Operation, filled: Filled): Input => {
  const { item, method, operation, path } = one
  const input: Input = {
    properties: new Map(),
    required: new Set(),
    path: new Map(),
    query: new Map(filled.query),
    headers: new Map(filled.headers),
  }
  // An operation's own parameter overrides its path's parameter with the same name and location.
  const merged = new Map<string, JsonObject>()
  for (const it of [...listed(reading, own(item, "parameters")), ...listed(reading, own(operation, "parameters"))])
    if (!isFilled(it, filled)) merged.set(slotOf(it), it)
  for (const [, name] of path.matchAll(/\{([^{}]*)\}/g))
    if (!merged.has(JSON.stringify(["path", name])))
      merged.set(JSON.stringify(["path", name]), { name, in: "path", schema: { type: "string" } })
  // The path first: its names are the best known.
  const order = ["path", "query", "header"]
  const rank = (it: JsonObject) => (order.indexOf(String(own(it, "in"))) + order.length + 1) % (order.length + 1)
  for (const it of [...merged.values()].toSorted((a, b) => rank(a) - rank(b))) add(reading, input, it)
  addBody(reading, input, own(operation, "requestBody"), method)
  return input
}
