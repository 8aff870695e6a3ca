/** What the bridge must know about a JSON-RPC message, and the headers in which 2026-07-28 repeats it. Pure. */

export type Id = string | number
export type Fields = Readonly<Record<string, unknown>>

export interface Message {
  readonly id?: Id
  readonly method?: string
  readonly params?: Fields
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown }
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A line or an event as JSON; undefined if it is not JSON. */
export const read = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export const keyOf = (id: Id): string => `${typeof id} ${id}`

export const isRequest = (it: Message): it is Message & { readonly id: Id; readonly method: string } =>
  typeof it.method === "string" && (typeof it.id === "string" || typeof it.id === "number")

/** A line must not contain a line break. */
export const lineOf = (text: string, message: unknown): string => (/[\r\n]/.test(text) ? JSON.stringify(message) : text)

/** Without an id if it is unknown which request it answers: no revision allows null. */
export const errorLine = (id: Id | undefined, code: number, message: string, data?: unknown): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    error: { code, message, ...(data === undefined ? {} : { data }) },
  })

export const notice = (method: string, params: Fields = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params })

const metaOf = ({ params }: Message): Fields => (isFields(params?.["_meta"]) ? params["_meta"] : {})

/** The revision that a new-era message names; an old-era message names none. */
export const claimOf = (message: Message): string | undefined => {
  const claim = metaOf(message)["io.modelcontextprotocol/protocolVersion"]
  return typeof claim === "string" ? claim : undefined
}

const idempotencyKey = "stoa/idempotencyKey"

/** A call that may have to be repeated has a key, so that the repeat finds the first. */
export const keyed = (message: Message, key: () => string): Message => {
  const { params } = message
  if (message.method !== "tools/call" || !isFields(params) || params["requestState"] !== undefined) return message
  const meta = params["_meta"] ?? {}
  if (!isFields(meta) || meta[idempotencyKey] !== undefined) return message
  return { ...message, params: { ...params, _meta: { ...meta, [idempotencyKey]: key() } } }
}

const nameOf = new Map<string, string>([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
])

/** A header carries visible ASCII without blanks at its ends; anything else is encoded. */
const encoded = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`

/** A parameter that a tool requires as a header, and its path in the arguments. */
export interface HeaderParameter {
  readonly header: string
  readonly path: ReadonlyArray<string>
}

/** The header parameters of an input schema: `x-mcp-header` on properties, and on nested ones. */
export const headerParametersOf = (
  schema: unknown,
  path: ReadonlyArray<string> = [],
): ReadonlyArray<HeaderParameter> => {
  const properties = isFields(schema) ? schema["properties"] : undefined
  if (!isFields(properties) || path.length > 64) return []
  return Object.entries(properties).flatMap(([name, inner]) => {
    const at = [...path, name]
    const header = isFields(inner) ? inner["x-mcp-header"] : undefined
    return [
      ...(typeof header === "string" ? [{ header: `mcp-param-${header}`, path: at }] : []),
      ...headerParametersOf(inner, at),
    ]
  })
}

const valueAt = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((at, key) => (isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined), value)

export const newHeaders = (
  message: Message,
  claim: string,
  wishes: (tool: string) => ReadonlyArray<HeaderParameter>,
): Record<string, string> => {
  const { method = "", params = {} } = message
  const headers: Record<string, string> = { "mcp-protocol-version": claim, "mcp-method": encoded(method) }
  const name = params[nameOf.get(method) ?? ""]
  if (typeof name !== "string") return headers
  headers["mcp-name"] = encoded(name)
  if (method !== "tools/call") return headers
  for (const { header, path } of wishes(name)) {
    const value = valueAt(params["arguments"], path)
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      headers[header] = encoded(String(value))
  }
  return headers
}
