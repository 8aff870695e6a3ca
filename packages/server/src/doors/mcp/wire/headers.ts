/**
 * The headers of 2026-07-28 that repeat parts of the body, so that proxies can route without reading it:
 * `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-…` for parameters whose schema asks for one with `x-mcp-header`.
 */
import type { IncomingHttpHeaders } from "node:http"
import type { JsonObject, ListedTool } from "../desk/Desk.ts"
import { codes, Fault } from "./Fault.ts"
import { isObject, type Request } from "./message.ts"

/** Which parameter is repeated as `Mcp-Name`. */
const nameOf = new Map<string, string>([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
])

const wrapped = /^=\?base64\?(.*)\?=$/s
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The value of a header: as it is, or decoded from Base64 if a header could not carry it. Undefined: unreadable. */
export const decodeHeader = (value: string): string | undefined => {
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, "")
  const inner = wrapped.exec(trimmed)?.[1]
  if (inner === undefined) return trimmed
  if (!canonical.test(inner)) return undefined
  const bytes = Buffer.from(inner, "base64")
  const text = bytes.toString("utf8")
  return bytes.toString("base64") === inner && Buffer.from(text, "utf8").equals(bytes) ? text : undefined
}

const mismatch = (message: string): Fault => new Fault(codes.headerMismatch, message)

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(", ") : value
}

export const standardHeaderFault = (headers: IncomingHttpHeaders, request: Request): Fault | undefined => {
  const method = headerOf(headers, "Mcp-Method")
  if (method === undefined) return mismatch("The header Mcp-Method is missing")
  if (decodeHeader(method) !== request.method) return mismatch(`Mcp-Method is not ${JSON.stringify(request.method)}`)
  const key = nameOf.get(request.method)
  const expected = key === undefined ? undefined : request.params[key]
  // A body without the name is refused later.
  if (typeof expected !== "string") return undefined
  const name = headerOf(headers, "Mcp-Name")
  if (name === undefined) return mismatch("The header Mcp-Name is missing")
  if (decodeHeader(name) !== expected) return mismatch(`Mcp-Name is not the ${key} of the body`)
  return undefined
}

const keyword = "x-mcp-header"
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: ReadonlyArray<unknown> = ["string", "integer", "boolean"]

interface ParamHeader {
  readonly header: string
  readonly path: ReadonlyArray<string>
}

/** The headers that a schema asks for; undefined if it asks in a way that no client may follow. */
export const paramHeaders = (schema: unknown): ReadonlyArray<ParamHeader> | undefined => {
  const found: Array<ParamHeader> = []
  const seen = new Set<string>()
  let left = 5000
  const visit = (node: unknown, path: ReadonlyArray<string>, reachable: boolean): boolean => {
    if (typeof node !== "object" || node === null) return true
    if (path.length > 64 || left-- < 0) return false
    if (Array.isArray(node)) return node.every((it) => visit(it, path, false))
    const schema = node as JsonObject
    const name = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
    if (name !== undefined) {
      if (!reachable || path.length === 0 || typeof name !== "string" || !token.test(name)) return false
      if (!types.includes(schema["type"]) || seen.has(name.toLowerCase())) return false
      seen.add(name.toLowerCase())
      found.push({ header: `mcp-param-${name.toLowerCase()}`, path })
    }
    return Object.entries(schema).every(([key, inner]) => {
      if (["enum", "const", "default", "examples"].includes(key)) return true
      const named = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"].includes(key)
      if (!named || !isObject(inner)) return visit(inner, path, false)
      const along = key === "properties" && reachable
      return Object.entries(inner).every(([child, it]) => visit(it, [...path, child], along))
    })
  }
  return visit(schema, [], true) ? found : undefined
}

const known = new WeakMap<ListedTool, ReadonlyArray<ParamHeader>>()
/** If a tool's keyword is invalid, it is ignored and removed from what clients see. */
const wishesOf = (tool: ListedTool): ReadonlyArray<ParamHeader> => {
  let wishes = known.get(tool)
  if (wishes === undefined) known.set(tool, (wishes = paramHeaders(tool.inputSchema) ?? []))
  return wishes
}

const valueAt = (value: unknown, path: ReadonlyArray<string>): unknown => {
  let at = value
  for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  return at
}

const same = (decoded: string, value: unknown): boolean =>
  typeof value === "number"
    ? /^-?\d+(?:\.0+)?$/.test(decoded) && Number(decoded) === value
    : typeof value === "string" || typeof value === "boolean"
      ? decoded === String(value)
      : false

export const paramHeaderFault = (
  headers: IncomingHttpHeaders,
  tool: ListedTool,
  given: JsonObject,
): Fault | undefined => {
  for (const { header, path } of wishesOf(tool)) {
    const value = valueAt(given, path)
    const sent = headerOf(headers, header)
    if (value === undefined || value === null) {
      if (sent !== undefined) return mismatch(`${header} is sent, and the body has no ${path.join(".")}`)
      continue
    }
    if (sent === undefined) return mismatch(`The header ${header} is missing`)
    const decoded = decodeHeader(sent)
    if (decoded === undefined || !same(decoded, value))
      return mismatch(`${header} is not the ${path.join(".")} of the body`)
  }
  return undefined
}
