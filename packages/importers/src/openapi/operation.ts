/** One operation as an http tool, or why it cannot be one. */
import { httpMethods, isTooDeep, type JsonObject, own, readTool, type ToolForm } from "@stoa/contract"
import { type Input, inputOf, type Operation, type Reading } from "./parameters.ts"
import { nodesIn, type Schemas } from "./schemas.ts"
import { type Need, securityOf } from "./security.ts"
import { serverOf } from "./servers.ts"

interface House {
  readonly root: JsonObject
  readonly schemas: Schemas
  readonly baseUrl: string | undefined
  /** The operator's name for the API; may be empty. */
  readonly prefix: string
}

type Made =
  | { readonly tool: ToolForm; readonly needs: ReadonlyArray<Need>; readonly notes: ReadonlyArray<string> }
  | { readonly reason: string }

/** The limits within which a schema can be checked at all; see the road of a call. */
const room = { size: 60 * 1024, nodes: 1900 }
const deepest = 31

/** Like tool names: no `__`, no other characters. */
const sanitised = (text: string) =>
  text
    .replace(/[^a-zA-Z0-9_.-]+/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^[^a-zA-Z0-9]+|[^a-zA-Z0-9]+$/g, "")

const describe = (operation: JsonObject, label: string): string => {
  const parts = [own(operation, "summary"), own(operation, "description")].filter(
    (one): one is string => typeof one === "string" && one.trim() !== "",
  )
  return [...new Set(parts.map((one) => one.trim()))].join("\n\n").slice(0, 4000) || label
}

const schemaOf = (reading: Reading, input: Input): JsonObject => {
  const base = {
    type: "object",
    properties: Object.fromEntries(input.properties),
    ...(input.required.size === 0 ? {} : { required: [...input.required] }),
    additionalProperties: false,
  }
  const [size, nodes] = [JSON.stringify(base).length, nodesIn(base)]
  if (size > room.size || nodes > room.nodes) reading.faults.push("its input is described at too great a length")
  if (isTooDeep(base, deepest)) reading.faults.push("its input is nested too deep")
  if (reading.refs.size === 0 || reading.faults.length > 0) return base
  const left = { size: room.size - size, nodes: room.nodes - nodes }
  const { defs, open } = reading.schemas.definitions(reading.refs, reading.faults, left)
  if (open.length > 0)
    reading.notes.push(`too large to describe whole; anything is taken for ${open.join(", ").slice(0, 300)}`)
  if (isTooDeep(defs, deepest - 1)) reading.faults.push("its input is nested too deep")
  return { ...base, $defs: defs }
}

/**
 * A tool without a configured body sends its whole input; this one has no body, so it names an input that never exists.
 */
const bodyOf = ({ body, properties }: Input, method: string): { readonly body?: string } => {
  if (body !== undefined) return { body }
  if (method !== "POST" && method !== "PUT" && method !== "PATCH") return {}
  let never = "body"
  while (properties.has(never)) never += "_"
  return { body: `{{input.${never}?}}` }
}

export const operationOf = (house: House, one: Operation, named: (base: string) => string): Made => {
  const { item, method, operation, path } = one
  const { root, schemas } = house
  const reading: Reading = { root, schemas, refs: new Set(), faults: [], notes: [] }
  const server = serverOf([operation, item, root], house.baseUrl)
  if ("fault" in server) return { reason: server.fault }
  // Foreign text in an address must not become a placeholder that the house fills with its secrets.
  if (/\$\{|\{\{/.test(`${server.url}${path}`)) return { reason: "its address contains placeholders" }
  if (/[\s?#\\]|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || /[{}]/.test(path.replace(/\{[^{}]*\}/g, "")))
    return { reason: "its path has characters that are not allowed in a path" }
  const security = securityOf(root, operation, house.prefix, new URL(server.url).host)
  if ("fault" in security) return { reason: security.fault }
  const input = inputOf(reading, one, security)
  const inputSchema = schemaOf(reading, input)
  if (reading.faults.length > 0) return { reason: [...new Set(reading.faults)].slice(0, 3).join("; ") }
  const id = own(operation, "operationId")
  const base = sanitised(typeof id === "string" ? id : "") || sanitised(`${method.toLowerCase()}_${path}`)
  const form = {
    name: named(base),
    description: describe(operation, `${method} ${path.slice(0, 200)}`),
    inputSchema,
    executionType: "gateway",
    execution: {
      url: `${server.url}${path.replace(/\{([^{}]*)\}/g, (_, name: string) => input.path.get(name) ?? "")}`,
      method,
      ...(input.headers.size === 0 ? {} : { headers: Object.fromEntries(input.headers) }),
      ...(input.query.size === 0 ? {} : { query: Object.fromEntries(input.query) }),
      ...bodyOf(input, method),
    },
    ...httpMethods[method],
  }
  const read = readTool(form)
  if (read.ok) return { tool: read.tool.form, needs: security.needs, notes: reading.notes }
  return {
    reason: read.issues
      .map(({ message, path: at }) => `${at}: ${message}`)
      .join("; ")
      .slice(0, 500),
  }
}
