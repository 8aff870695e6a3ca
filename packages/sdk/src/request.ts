/** One request, from an endpoint of the contract and its arguments. */
import { StoaError, StoaUnreachable } from "./StoaError.ts"
import type { CallOptions } from "./types.ts"

export interface Connection {
  /** Without a trailing slash. */
  readonly url: string
  readonly token: string | undefined
  readonly fetch: typeof globalThis.fetch
}

export interface ConnectOptions {
  /** Address of the house, such as http://127.0.0.1:4040; a path in it is kept. */
  readonly url: string
  readonly token?: string
  /** Another fetch, for tests and special environments. */
  readonly fetch?: typeof globalThis.fetch
}

/** An endpoint as listed in `endpoints.ts`. */
interface Endpoint {
  readonly method: string
  readonly path: string
  readonly takes: ReadonlyArray<string>
}

export const endpointOf = (line: string): Endpoint => {
  const [method = "", path = "", ...takes] = line.split(" ")
  return { method, path, takes }
}

export const connectionOf = ({ fetch, token, url }: ConnectOptions): Connection => {
  // A browser's fetch must be called as a method of its window.
  const own = (...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args)
  return { url: baseOf(url), token, fetch: fetch ?? own }
}

/** Only origin and path, so that a sign-in link works as an address. */
const baseOf = (url: string): string => {
  try {
    const { origin, pathname, protocol } = new URL(url)
    if (protocol === "http:" || protocol === "https:") return origin + pathname.replace(/\/+$/, "")
  } catch {
    // Reported below, for both.
  }
  throw new TypeError(`"${url}" is not the address of a house. Give one such as http://127.0.0.1:4040.`)
}

/** Random, from a function that every page has: randomUUID exists only in secure contexts. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")

interface Parts {
  readonly path: string
  readonly body: unknown
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>
  readonly options: CallOptions
}

/** Arguments in order: one string per path parameter, the body if there is one, the query if there is one, options. */
const partsOf = (endpoint: Endpoint, args: ReadonlyArray<unknown>): Parts => {
  const rest = [...args]
  const path = endpoint.path.replace(/:[A-Za-z]+/g, (name) => {
    const value = rest.shift()
    // A segment of dots would be taken for a way up the path, however it is encoded.
    if (typeof value !== "string" || /^\.{0,2}$/.test(value))
      throw new TypeError(`${endpoint.method} ${endpoint.path} needs its ${name.slice(1)}, a name or an id.`)
    return encodeURIComponent(value)
  })
  const body = endpoint.takes.includes("body") ? rest.shift() : undefined
  const query = endpoint.takes.includes("query") ? ((rest.shift() ?? {}) as Parts["query"]) : {}
  return { path, body, query, options: rest.shift() ?? {} }
}

export const headersOf = (connection: Connection): Record<string, string> =>
  connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` }

export const send = async (connection: Connection, endpoint: Endpoint, args: ReadonlyArray<unknown>) => {
  const { body, options, path, query } = partsOf(endpoint, args)
  const url = new URL(connection.url + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  const headers = headersOf(connection)
  if (body !== undefined) headers["content-type"] = "application/json"
  // A create that is repeated because its answer was lost must not happen twice.
  if (endpoint.method === "POST") headers["idempotency-key"] = options.idempotencyKey ?? newKey()
  const init: RequestInit = { method: endpoint.method, headers }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (options.signal !== undefined) init.signal = options.signal
  const asked = async () => {
    const response = await connection.fetch(url, init)
    if (!response.ok) throw await refusalOf(response)
    return endpoint.takes.includes("stream") ? response.body : answerOf(connection, response)
  }
  return twice(connection, options.signal, asked, endpoint.method === "DELETE")
}

/** One retry if the connection broke, even within the answer: all our requests are safe to repeat. */
const twice = async (
  connection: Connection,
  signal: AbortSignal | undefined,
  asked: () => Promise<unknown>,
  removes: boolean,
) => {
  const final = (cause: unknown) => cause instanceof StoaError || signal?.aborted === true
  try {
    return await asked()
  } catch (first) {
    if (final(first)) throw first
  }
  try {
    return await asked()
  } catch (cause) {
    // The first request may have removed it: that it is missing is what was wanted.
    if (removes && cause instanceof StoaError && cause.status === 404) return undefined
    throw final(cause) ? cause : new StoaUnreachable(connection.url, cause)
  }
}

export const refusalOf = async (response: Response): Promise<StoaError> => {
  const text = await response.text()
  return new StoaError(response.status, problemIn(text), Number(response.headers.get("retry-after") ?? Number.NaN))
}

/** A proxy in between may answer with its own text. */
const problemIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const problem = JSON.parse(text) as unknown
    return typeof problem === "object" && problem !== null ? (problem as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export const notAHouse = (connection: Connection, response: Response): StoaError =>
  new StoaError(response.status, { detail: `What answers at ${connection.url} is not a Stoa house.` })

const answerOf = async (connection: Connection, response: Response): Promise<unknown> => {
  if (response.status === 204) return undefined
  const type = response.headers.get("content-type") ?? ""
  if (type.startsWith("application/json")) return response.json()
  if (type.startsWith("application/octet-stream")) return new Uint8Array(await response.arrayBuffer())
  throw notAHouse(connection, response)
}
