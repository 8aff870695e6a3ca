/** One request, from an endpoint of the contract and its arguments. */
import type { CallOptions } from "./types.ts"
import { StoaError, StoaUnreachable } from "./StoaError.ts"

export interface Connection {
  readonly url: string
  readonly token: string | undefined
  readonly fetch: typeof globalThis.fetch
}

/** What the contract knows of an endpoint at run time. */
export interface EndpointLike {
  readonly method: string
  readonly path: string
  readonly payload: ReadonlyMap<string, unknown>
  readonly query: unknown
}

interface Parts {
  readonly path: string
  readonly body: unknown
  readonly query: Record<string, unknown>
  readonly options: CallOptions
}

/** Arguments in order: one string a path parameter, the body if there is one, the query if there is one, options. */
const partsOf = (endpoint: EndpointLike, args: ReadonlyArray<unknown>): Parts => {
  const rest = [...args]
  const path = endpoint.path.replace(/:[A-Za-z]+/g, (name) => {
    const value = rest.shift()
    if (typeof value !== "string" || value === "") throw new TypeError(`${endpoint.path} needs ${name.slice(1)}`)
    return encodeURIComponent(value)
  })
  const body = endpoint.payload.size > 0 ? rest.shift() : undefined
  const query = endpoint.query === undefined ? {} : ((rest.shift() ?? {}) as Record<string, unknown>)
  return { path, body, query, options: (rest.shift() ?? {}) }
}

export const headersOf = (connection: Connection): Record<string, string> =>
  connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` }

export const send = async (connection: Connection, endpoint: EndpointLike, args: ReadonlyArray<unknown>) => {
  const { body, options, path, query } = partsOf(endpoint, args)
  const url = new URL(path, connection.url)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  const headers = headersOf(connection)
  if (body !== undefined) headers["content-type"] = "application/json"
  // A create that is sent again because its answer was lost must not happen again.
  if (endpoint.method === "POST") headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID()
  const init: RequestInit = { method: endpoint.method, headers }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (options.signal !== undefined) init.signal = options.signal
  const response = await exchange(connection, url, init)
  if (!response.ok) throw new StoaError(response.status, await problemOf(response))
  return answerOf(response)
}

/** One more try when the connection broke: every request of ours is safe to repeat. */
const exchange = async (connection: Connection, url: URL, init: RequestInit): Promise<Response> => {
  try {
    return await connection.fetch(url, init)
  } catch (first) {
    if (init.signal?.aborted === true) throw first
    try {
      return await connection.fetch(url, init)
    } catch (cause) {
      throw new StoaUnreachable(connection.url, cause)
    }
  }
}

const problemOf = async (response: Response): Promise<Record<string, unknown>> => {
  try {
    return (await response.json()) as Record<string, unknown>
  } catch {
    return { status: response.status, detail: `The house answered ${response.status} ${response.statusText}.` }
  }
}

const answerOf = async (response: Response): Promise<unknown> => {
  if (response.status === 204) return undefined
  const type = response.headers.get("content-type") ?? ""
  return type.includes("json") ? response.json() : new Uint8Array(await response.arrayBuffer())
}
