/** Requests to the MCP endpoint of the house, wherever it is now, and the form of its answers. */
// edge: requests.
import { type FoundHouse, type House } from "../house.ts"
import { errorLine, type Fields, type Id } from "../messages/message.ts"

/** How long a request waits for a house that is away. */
const patienceMs = 30_000

type Headers = Record<string, string>

export class Wire {
  readonly #house: House
  readonly #path: string
  readonly closing = new AbortController()
  #last: FoundHouse | undefined

  constructor(house: House, path: string) {
    this.#house = house
    this.#path = path
  }

  async find(): Promise<FoundHouse> {
    return (this.#last = await this.#house.find(patienceMs))
  }
  /** It did not answer: the next request looks for it again. */
  lost(here: FoundHouse): void {
    this.#house.lost(here)
  }

  post(here: FoundHouse, body: string, headers: Headers, signal?: AbortSignal): Promise<Response> {
    const given = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
    return this.#send(here, { method: "POST", headers: given, body }, signal)
  }

  get(here: FoundHouse, headers: Headers, last: string | undefined, signal?: AbortSignal): Promise<Response> {
    const place = last === undefined ? {} : { "last-event-id": last }
    return this.#send(here, { method: "GET", headers: { accept: "text/event-stream", ...headers, ...place } }, signal)
  }

  /** Ends a session. The house would end it anyway, so this does not wait long. */
  async forget(headers: Headers): Promise<void> {
    if (this.#last === undefined) return
    await this.#send(this.#last, { method: "DELETE", headers }, AbortSignal.timeout(500)).catch(() => undefined)
  }

  #send(here: FoundHouse, init: RequestInit & { readonly headers: Headers }, signal?: AbortSignal): Promise<Response> {
    const token = here.token === undefined ? {} : { authorization: `Bearer ${here.token}` }
    const until = signal === undefined ? this.closing.signal : AbortSignal.any([signal, this.closing.signal])
    return this.#house.fetch(here.url + this.#path, { ...init, headers: { ...token, ...init.headers }, signal: until })
  }
}

const typeOf = (response: Response): string => response.headers.get("content-type") ?? ""

export const isStream = (response: Response): boolean => typeOf(response).startsWith("text/event-stream")
export const isJson = (response: Response): boolean => typeOf(response).startsWith("application/json")

/** A refusal by the house that is not JSON-RPC: no token, too many requests, nothing at this path. */
export const problemLine = (id: Id, response: Response, { detail, tag }: Fields): string => {
  const words = typeof detail === "string" ? detail : `What answers is not a Stoa house (HTTP ${response.status}).`
  const after = response.headers.get("retry-after")
  const data = { status: response.status, tag, ...(after === null ? {} : { retryAfter: Number(after) }) }
  return errorLine(id, -32603, words, data)
}
