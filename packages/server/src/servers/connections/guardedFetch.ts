/**
 * The HTTP client for an MCP server: only to the origin that the operator named, and each connection only to addresses
 * that were checked when it was made. Redirects to other origins are refused.
 */
// edge: node:http is events, and the client of MCP wants a fetch
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { Readable } from "node:stream"
import type { MCPConnectionError } from "@stoa/contract"
import { checkHost, maxMCPMessageBytes, type MCPPorts, PlainFailure, WholeResponse } from "@stoa/tools"
import { Effect } from "effect"

type Fetch = MCPPorts["fetch"]
type Texts = Readonly<Record<string, string>>

/** An idle connection is closed before most servers would close it while we use it. */
const idleMs = 4000

type Found = (answer: Effect.Effect<void>) => void

/** Returns the checked addresses, whatever name is looked up. */
const pinned =
  (check: Effect.Effect<ReadonlyArray<string>, MCPConnectionError>, fork: Found): LookupFunction =>
  (_host, options, done) =>
    fork(
      Effect.match(check, {
        onFailure: (error) => done(error, "", 0),
        onSuccess: (addresses) => {
          const all = addresses.map((address) => ({ address, family: isIP(address) }))
          if (options.all === true) done(null, all)
          else done(null, all[0]!.address, all[0]!.family)
        },
      }),
    )

/** Statuses whose answer has no body, by the platform's own rule. */
const empty = new Set([204, 205, 304])

/** The whole body, up to the size limit of a message. */
const bytesOf = (answer: IncomingMessage): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    answer.on("data", (chunk: Uint8Array) => {
      size += chunk.length
      if (size <= maxMCPMessageBytes) chunks.push(chunk)
      else answer.destroy(new Error(`The answer is larger than ${maxMCPMessageBytes} bytes`))
    })
    answer.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    answer.on("error", reject)
  })

/** An event stream is passed on as it arrives; any other body is read completely first. */
const responseOf = async (answer: IncomingMessage, url: URL): Promise<Response> => {
  const { statusCode: status = 502, statusMessage: statusText = "" } = answer
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value)
  const init = { status, statusText, headers }
  if (!headers.get("content-type")?.includes("text/event-stream"))
    return new WholeResponse(await bytesOf(answer), init, url.href)
  if (empty.has(status)) answer.resume()
  const body = empty.has(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>)
  const response = new Response(body, init)
  Object.defineProperty(response, "url", { value: url.href })
  return response
}

const send = (url: URL, init: RequestInit, headers: Texts, agent: HttpAgent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const body = init.body === undefined || init.body === null ? undefined : Buffer.from(init.body as string)
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      agent,
      method: init.method ?? "GET",
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.length }) },
      ...(init.signal === undefined || init.signal === null ? {} : { signal: init.signal }),
    })
    request.on("response", resolve)
    request.on("error", reject)
    request.on("upgrade", (_answer, socket) => {
      socket.destroy()
      reject(new Error(`${url.host} tried to change the protocol`))
    })
    request.end(body)
  })

const methodKept = [307, 308]
const maxRedirects = 3

/** The target of a redirect, if it is the same server: a forgotten slash in a configuration should not be a failure. */
const redirectOf = (answer: IncomingMessage, from: URL, method: string): URL | undefined => {
  const { headers, statusCode: status = 0 } = answer
  if (headers.location === undefined || ![301, 302, 303, 307, 308].includes(status)) return undefined
  const to = URL.parse(headers.location, from)
  if (to === null || to.origin !== from.origin)
    throw new PlainFailure(
      `${from.host} redirects to another origin, which is not followed; give the server's own address`,
    )
  if (method !== "GET" && !methodKept.includes(status))
    throw new PlainFailure(`${from.host} redirects (${status}) to ${to.pathname}; give that address`)
  return to
}

/** A fetch for one server, until its scope closes. Its headers are made for each request, unless they never change. */
export const guardedFetch = Effect.fnUntraced(function* (
  endpoint: string,
  headers: Texts | Effect.Effect<Texts, MCPConnectionError>,
  refuse: (message: string) => MCPConnectionError,
) {
  const named = new URL(endpoint)
  const context = yield* Effect.context<never>()
  const run = Effect.runPromiseWith(context)
  const fork: Found = (answer) => void Effect.runForkWith(context)(answer)
  const check = Effect.mapError(checkHost(named, [named.host]), ({ detail }) => refuse(detail))
  const options = { keepAlive: true, timeout: idleMs, lookup: pinned(check, fork) }
  const agent = named.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options)
  yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))

  const inDigits = isIP(named.hostname.replace(/^\[|\]$/g, "")) !== 0
  let checked: Promise<unknown> | undefined
  const fetch: Fetch = async (input, init = {}) => {
    let url = new URL(input)
    if (url.origin !== named.origin) throw new Error(`${url.origin} is not the address of this server`)
    // A name is checked when it is looked up; a literal address is not looked up and never changes, so it is checked
    // once.
    if (inDigits) await (checked ??= run(check))
    const own = Effect.isEffect(headers) ? await run(headers) : headers
    // A configuration must not override the headers of the protocol.
    const asked = { ...Object.fromEntries(new Headers(own)), ...Object.fromEntries(new Headers(init.headers)) }
    for (let left = maxRedirects; ; left--) {
      const answer = await send(url, init, asked, agent)
      const next = redirectOf(answer, url, init.method ?? "GET")
      if (next === undefined) return responseOf(answer, url)
      answer.resume()
      if (left === 0) throw new PlainFailure(`${named.host} redirects in circles`)
      url = next
    }
  }
  return fetch
})
