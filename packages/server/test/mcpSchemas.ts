/**
 * The official schemas of the protocol, as the pinned conformance suite carries them in its bundle: what we send is checked
 * against the text that its `wire-schema-valid` uses. (It has none of 2024-11-05.)
 */
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

const validators = new Map(
  revisions.map((revision, n) => {
    // oxlint-disable-next-line typescript/no-implied-eval
    const schema = new Function(`return ${literalAt(starts[n]!.index + starts[n]![0].length)}`)() as Schema
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
  if (it === undefined) return undefined
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
