/**
 * The official schemas of the protocol, as the pinned conformance suite carries them in its bundle: what we send is checked
 * against the text that its `wire-schema-valid` uses. It has none of 2024-11-05, and neither has any other package that is
 * installed; that one is made here of its successor, by taking back what came with it, and is held against the digest of
 * the official text.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Ajv } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"

type Schema = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const require = createRequire(import.meta.url)
const bundle = readFileSync(
  join(dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js"),
  "utf8",
)

/** The object literal that begins here, up to the brace that ends it. */
const literalAt = (start: number): string => {
  let depth = 0
  let quote = ""
  for (let at = start; ; at++) {
    const char = bundle[at]!
    if (quote !== "") {
      if (char === "\\") at++
      else if (char === quote) quote = ""
    } else if (char === "`" || char === '"' || char === "'") quote = char
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return bundle.slice(start, at + 1)
  }
}

// The order of the bundle's own table: 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28.
const starts = [
  ...bundle.matchAll(
    /[A-Za-z]{1,3}=(?=\{\$schema:`https?:\/\/json-schema\.org\/draft[^`]*`,(?:definitions|\$defs):\{Annotations)/g,
  ),
]
const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
if (starts.length !== revisions.length) throw new Error(`${starts.length} schemas in the suite's bundle`)

type Json = Record<string, unknown>
const without = (from: Json, ...keys: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)))
const inside = (from: Json, ...path: ReadonlyArray<string>): Json => path.reduce((at, key) => at[key] as Json, from)

/** 2025-03-26 without what it brought: batches, audio, annotations of tools, completions as a capability, words of progress. */
const firstOf = (second: Schema): Schema => {
  const { definitions } = structuredClone(second) as unknown as { readonly definitions: Record<string, Json> }
  const annotations = definitions["Annotations"]!
  const taken = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((it) => it?.$ref !== "#/definitions/AudioContent").map(taken)
    if (typeof value !== "object" || value === null) return value
    if ((value as Json)["$ref"] === "#/definitions/Annotations") return taken(annotations)
    return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, taken(it)]))
  }
  const first = Object.fromEntries(
    Object.entries(definitions)
      .filter(([name]) => !/^(Annotations|AudioContent|JSONRPCBatch\w+|ToolAnnotations)$/.test(name))
      .map(([name, it]) => [name, taken(it) as Json]),
  )
  const message = first["JSONRPCMessage"]!
  message["anyOf"] = (message["anyOf"] as ReadonlyArray<Json>).filter((it) => "$ref" in it)
  const drop = (name: string, key: string, ...path: ReadonlyArray<string>) => {
    const at = inside(first[name]!, ...path)
    at["properties"] = without(at["properties"] as Json, key)
  }
  drop("Tool", "annotations")
  drop("ServerCapabilities", "completions")
  drop("ProgressNotification", "message", "properties", "params")
  // In the official text this was a definition that nothing but the others' documentation spoke of.
  const annotated = { type: "object", properties: { annotations: taken(annotations) } }
  return { $schema: second["$schema"]!, definitions: { ...first, Annotated: annotated } }
}

/** Of the official schema.json of 2024-11-05, keys in order and without descriptions. */
const official = "32479960b553f8ac9263c12dcc1d5b5cf264b354437bfedf1cbcd98e1c88e952"
const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([key, it]) => !(key === "description" && typeof it === "string"))
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, it]) => [key, inOrder(it)]))
}
const digestOf = (schema: Schema): string =>
  createHash("sha256")
    .update(JSON.stringify(inOrder(schema)))
    .digest("hex")

/** A schema lets pass what it does not know; a client of 2024-11-05 is sent none of this all the same. */
const unsaid: Readonly<Record<string, ReadonlyArray<string>>> = {
  Tool: ["annotations", "title", "outputSchema", "icons", "_meta"],
  ServerCapabilities: ["completions"],
  CallToolResult: ["structuredContent"],
}
const strictly = (schema: Schema): Schema => {
  const definitions = Object.entries(schema["definitions"] as Record<string, Json>).map(([name, it]) => {
    const none = Object.fromEntries((unsaid[name] ?? []).map((key) => [key, false]))
    return [name, name in unsaid ? { ...it, properties: { ...(it["properties"] as Json), ...none } } : it]
  })
  return { ...schema, definitions: Object.fromEntries(definitions) as Schema[string] }
}

// oxlint-disable-next-line typescript/no-implied-eval
const carried = starts.map((it) => new Function(`return ${literalAt(it.index + it[0].length)}`)() as Schema)
const first = firstOf(carried[0]!)
if (digestOf(first) !== official) throw new Error("What is made of 2025-03-26 is not the schema of 2024-11-05")
const schemas = new Map([
  ["2024-11-05", strictly(first)],
  ...revisions.map((revision, n) => [revision, carried[n]!] as const),
])

const validators = new Map(
  [...schemas].map(([revision, schema]) => {
    const definitions = schema["$defs"] === undefined ? "definitions" : "$defs"
    const options = { strict: false, validateFormats: false, allErrors: true } as const
    const ajv = definitions === "$defs" ? new Ajv2020(options) : new Ajv(options)
    ajv.addSchema(schema, revision)
    return [revision, { ajv, definitions, names: schema[definitions]! }] as const
  }),
)

/** What is wrong with a value that should be what the revision calls `name`; undefined when nothing is. */
const schemaFault = (revision: string, name: string, value: unknown): string | undefined => {
  const it = validators.get(revision)
  if (it === undefined) return `${revision} has no schema here`
  if (!(name in it.names)) return `${revision} has no ${name}`
  const validate = it.ajv.getSchema(`${revision}#/${it.definitions}/${name}`)!
  return validate(value) === true ? undefined : `${name} of ${revision}: ${it.ajv.errorsText(validate.errors)}`
}

const resultNames: Readonly<Record<string, string>> = {
  initialize: "InitializeResult",
  "server/discover": "DiscoverResult",
  "tools/list": "ListToolsResult",
  "tools/call": "CallToolResult",
  "resources/list": "ListResourcesResult",
  "resources/templates/list": "ListResourceTemplatesResult",
  "resources/read": "ReadResourceResult",
  "prompts/list": "ListPromptsResult",
  "prompts/get": "GetPromptResult",
  "completion/complete": "CompleteResult",
}

/** The fault of an answer to a request of this method. */
export const answerFault = (revision: string, method: string, answer: unknown): string | undefined => {
  const { error, result } = answer as { readonly error?: unknown; readonly result?: { readonly resultType?: string } }
  const errorName = revision >= "2025-11-25" ? "JSONRPCErrorResponse" : "JSONRPCError"
  if (error !== undefined) return schemaFault(revision, errorName, answer)
  const whole = schemaFault(revision, revision >= "2025-11-25" ? "JSONRPCResultResponse" : "JSONRPCResponse", answer)
  const name =
    result?.resultType === "input_required"
      ? "InputRequiredResult"
      : result?.resultType === "task"
        ? "Result"
        : (resultNames[method] ?? (revision === "2026-07-28" ? "Result" : "EmptyResult"))
  return whole ?? schemaFault(revision, name, result)
}

/** What the tasks extension adds, which is in no schema of the protocol's. */
const extended = new Set(["notifications/tasks"])

interface Defined {
  readonly properties?: { readonly method?: { readonly const?: string } }
}

/** The fault of anything else we send: a notification, or a question to a client. */
const sentFault = (
  revision: string,
  message: { readonly method: string; readonly id?: unknown },
): string | undefined => {
  if (extended.has(message.method)) return undefined
  const kind = message.id === undefined ? "Notification" : "Request"
  const names = (validators.get(revision)?.names ?? {}) as Record<string, Defined>
  const name = Object.keys(names).find(
    (it) => it.endsWith(kind) && names[it]!.properties?.method?.const === message.method,
  )
  if (name === undefined) return `${revision} has no ${message.method}`
  return schemaFault(revision, name, message) ?? schemaFault(revision, `JSONRPC${kind}`, message)
}

/** The fault of any message we send, in answer to requests of these methods by their ids. */
export const messageFault = (
  revision: string,
  message: unknown,
  methods: ReadonlyMap<unknown, string>,
): string | undefined => {
  const { id, method } = message as { readonly id?: unknown; readonly method?: string }
  if (method !== undefined) return sentFault(revision, { ...(message as object), method })
  return answerFault(revision, methods.get(id) ?? "", message)
}
