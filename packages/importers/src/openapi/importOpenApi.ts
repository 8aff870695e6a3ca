/**
 * Tools from an OpenAPI 3.0 or 3.1 document: one http tool per operation. Pure, so that a preview is the same function
 * with nothing stored. The document is untrusted: nothing in it becomes a placeholder of ours, nothing outside of it is
 * read, and its cost is bounded.
 */
import { isObject, type Issue, isTooDeep, type JsonObject, own, type ToolForm } from "@stoa/contract"
import { operationOf } from "./operation.ts"
import type { Operation } from "./parameters.ts"
import { follow } from "./references.ts"
import { schemasOf } from "./schemas.ts"
import type { Need } from "./security.ts"

export interface OpenApiOptions {
  /**
   * Where the document is served: relative servers are resolved against it, and without any server it is the server.
   */
  readonly baseUrl?: string | undefined
  /** Put before each name, with an underscore; its secrets are named after it, or else after their host. */
  readonly prefix?: string | undefined
  /** Only these, by operationId or as `GET /path`. */
  readonly include?: ReadonlyArray<string> | undefined
}

export interface OpenApiImport {
  readonly tools: ReadonlyArray<ToolForm>
  readonly skipped: ReadonlyArray<{ readonly operation: string; readonly reason: string }>
  /** Secrets to set before the tools can be called. */
  readonly needs: ReadonlyArray<Need>
  /** What was left out of a tool, or left open. */
  readonly notes: ReadonlyArray<string>
  /** If there is one, nothing was imported. */
  readonly issues: ReadonlyArray<Issue>
}

const maxBytes = 4 * 1024 * 1024
const maxOperations = 1000
const deepest = 100
const methods = ["get", "head", "post", "put", "patch", "delete"]
const otherMethods = ["options", "trace", "query"]

const refused = (path: string, message: string): OpenApiImport => ({
  tools: [],
  skipped: [],
  needs: [],
  notes: [],
  issues: [{ path, message }],
})

/** A text is parsed as JSON; a value is measured by the size of its JSON text. */
const read = (document: unknown): JsonObject | string => {
  const large = `has more than ${maxBytes} bytes`
  try {
    if (typeof document === "string") {
      if (document.length > maxBytes) return large
      return read(JSON.parse(document))
    }
    if (!isObject(document)) return "is not an OpenAPI document, which is a JSON object"
    if (isTooDeep(document, deepest)) return `is nested deeper than ${deepest} levels`
    return new TextEncoder().encode(JSON.stringify(document)).length > maxBytes ? large : document
  } catch {
    return "is not JSON; convert YAML first"
  }
}

interface Found extends Operation {
  readonly label: string
}

const operationsIn = (
  root: JsonObject,
  skipped: Array<{ operation: string; reason: string }>,
): ReadonlyArray<Found> => {
  const paths = own(root, "paths")
  const found: Array<Found> = []
  for (const [path, entry] of Object.entries(isObject(paths) ? paths : {})) {
    if (path.startsWith("x-")) continue
    const item = follow(root, entry)
    if ("fault" in item || !isObject(item.value) || !path.startsWith("/")) {
      skipped.push({
        operation: path.slice(0, 200),
        reason: "fault" in item ? item.fault : "is not a path with operations",
      })
      continue
    }
    for (const method of [...methods, ...otherMethods]) {
      const operation = own(item.value, method)
      if (operation === undefined) continue
      const label = `${method.toUpperCase()} ${path.slice(0, 200)}`
      if (!isObject(operation)) skipped.push({ operation: label, reason: "is not an operation" })
      else if (!methods.includes(method))
        skipped.push({ operation: label, reason: "an http tool cannot use this method" })
      else found.push({ label, method: method.toUpperCase(), path, item: item.value, operation })
    }
  }
  return found
}

const slug = (text: string) =>
  text
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toLowerCase()
    .slice(0, 32)

/** Chosen by operationId or label; missing ones are reported. */
const chosen = (all: ReadonlyArray<Found>, include: ReadonlyArray<string> | undefined, issues: Array<Issue>) => {
  if (include === undefined) return all
  const idOf = ({ operation }: Found) => own(operation, "operationId")
  for (const [at, id] of include.entries())
    if (!all.some((one) => idOf(one) === id || one.label === id))
      issues.push({ path: `include.${at}`, message: `the document has no operation "${id}"` })
  return all.filter((one) => include.some((id) => idOf(one) === id || one.label === id))
}

/** One operation per step, so that the caller can serve others in between. */
export function* importOpenApiInSteps(
  document: unknown,
  options: OpenApiOptions = {},
): Generator<void, OpenApiImport, void> {
  const root = read(document)
  if (typeof root === "string") return refused("document", root)
  const version = own(root, "openapi")
  if (typeof version !== "string" || !/^3\.[01](\.|$)/.test(version))
    return refused("document.openapi", 'is not "3.0" or "3.1", which are the versions that can be imported')
  if (options.baseUrl !== undefined && !/^https?:$/.test(URL.parse(options.baseUrl)?.protocol ?? ""))
    return refused("baseUrl", "is not an address that begins with http:// or https://")
  const skipped: Array<{ operation: string; reason: string }> = []
  const issues: Array<Issue> = []
  const all = chosen(operationsIn(root, skipped), options.include, issues)
  if (all.length > maxOperations)
    issues.push({
      path: "document.paths",
      message: `has ${all.length} operations; choose ${maxOperations} at most with include`,
    })
  if (issues.length > 0) return { tools: [], skipped: [], needs: [], notes: [], issues }

  const prefix = slug(options.prefix ?? "")
  const house = { root, schemas: schemasOf(root, version.startsWith("3.0")), baseUrl: options.baseUrl, prefix }
  const tools = new Map<string, ToolForm>()
  const needs = new Map<string, Need>()
  const notes: Array<string> = []
  for (const one of all) {
    yield
    const result = operationOf(house, one, (base) => freeName(tools, prefix === "" ? base : `${prefix}_${base}`))
    if ("reason" in result) skipped.push({ operation: one.label, reason: result.reason })
    else {
      tools.set(result.tool.name, result.tool)
      for (const need of result.needs) needs.set(`${need.secret} ${need.why}`, need)
      notes.push(...result.notes.map((note) => `${one.label}: ${note}`))
    }
  }
  return { tools: [...tools.values()], skipped, needs: [...needs.values()], notes, issues: [] }
}

export const importOpenApi = (document: unknown, options: OpenApiOptions = {}): OpenApiImport => {
  const steps = importOpenApiInSteps(document, options)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

const freeName = (tools: ReadonlyMap<string, unknown>, base: string): string => {
  let name = base.slice(0, 64)
  for (let n = 2; tools.has(name); n++) name = `${base.slice(0, 63 - String(n).length).replace(/_+$/, "")}_${n}`
  return name
}
