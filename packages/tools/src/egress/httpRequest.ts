// edge: node:http and zlib are streams and events.
/**
 * One request and its answer on one connection, to addresses that were checked before: the name is not looked up again,
 * so it cannot change in between.
 */
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { Effect } from "effect"
import { reusableAgent, singleUseAgent } from "./connections.ts"
import { type Headers, hostOf, type Refusal } from "./Policy.ts"

export interface HttpRequest {
  readonly url: URL
  readonly addresses: ReadonlyArray<string>
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  readonly maxBytes: number
  readonly maxHeaderBytes: number
  /** A longer body is cut instead of refused. */
  readonly cut: boolean
  /** The connection may be reused by requests with the same value here. Undefined: it is closed. */
  readonly reuseKey: ReadonlyArray<unknown> | undefined
}

export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly body: Uint8Array
  readonly truncated: boolean
}

/** At most one encoding: nested encodings make a decompression bomb small. */
const decoded = (answer: IncomingMessage): Readable | undefined => {
  switch ((answer.headers["content-encoding"] ?? "identity").toLowerCase().trim()) {
    case "":
    case "identity":
      return answer
    case "gzip":
    case "x-gzip":
      return answer.pipe(createGunzip())
    case "deflate":
      return answer.pipe(createInflate())
    case "br":
      return answer.pipe(createBrotliDecompress())
    default:
      return undefined
  }
}

const flat = (answer: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  )

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

const optionsOf = ({ body, headers, maxHeaderBytes, method, url }: HttpRequest, agent: Agent, kept: boolean) => ({
  agent,
  protocol: url.protocol,
  hostname: hostOf(url),
  port: url.port || (url.protocol === "https:" ? 443 : 80),
  path: `${url.pathname}${url.search}`,
  method,
  headers: {
    "user-agent": "stoa",
    accept: "*/*",
    ...headers,
    "accept-encoding": "gzip, deflate, br",
    ...(kept ? {} : { connection: "close" }),
    ...(body === undefined ? {} : { "content-length": String(body.length) }),
  },
  maxHeaderSize: maxHeaderBytes,
  insecureHTTPParser: false,
})

type Resume = (answer: Effect.Effect<HttpResponse, Refusal>) => void

/** Sends it. `stale`: a reused connection was closed by the other side before any answer. */
const send = (asked: HttpRequest, agent: Agent, kept: boolean, resume: Resume, stale: () => void): ClientRequest => {
  const { body, url } = asked
  const refuse = (reason: Refusal["reason"], detail: string) => resume(Effect.fail({ reason, detail }))
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(optionsOf(asked, agent, kept))
  let answered = false
  const fail = (error: Error & { readonly code?: string }) => {
    if (!answered && request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) return stale()
    return error.code === "HPE_HEADER_OVERFLOW"
      ? refuse("too-large", `the headers have more than ${asked.maxHeaderBytes} bytes`)
      : refuse("connection", `${url.host} did not answer properly (${error.code ?? error.message})`)
  }
  const read = (answer: IncomingMessage) => {
    answered = true
    const { statusCode: status = 0, statusMessage: statusText = "" } = answer
    const end = (chunks: ReadonlyArray<Uint8Array>, truncated: boolean) => {
      const whole = { status, statusText, headers: flat(answer), body: Buffer.concat(chunks), truncated }
      // Only a completely read answer leaves the connection ready for the next one.
      if (kept && answer.complete && !truncated) {
        // It is free one tick later, so that the next request finds it.
        process.nextTick(() => resume(Effect.succeed(whole)))
        return
      }
      resume(Effect.succeed(whole))
      request.destroy()
    }
    // The body of a redirect is not needed.
    if (isRedirect(status) && answer.headers.location !== undefined) {
      end([], false)
      return void request.destroy()
    }
    const stream = decoded(answer)
    if (stream === undefined) {
      request.destroy()
      return refuse("encoding", `the body is encoded as "${answer.headers["content-encoding"]}"`)
    }
    const chunks: Array<Uint8Array> = []
    let left = asked.maxBytes
    stream.on("data", (chunk: Uint8Array) => {
      if (chunk.length <= left) {
        left -= chunk.length
        chunks.push(chunk)
        return
      }
      chunks.push(chunk.subarray(0, left))
      // Resume before the end of the stream, which would look like a broken connection.
      if (asked.cut) end(chunks, true)
      else refuse("too-large", `the answer has more than ${asked.maxBytes} bytes`)
      stream.destroy()
      request.destroy()
    })
    stream.on("end", () => end(chunks, false))
    stream.on("error", fail)
    answer.on("error", fail)
    answer.on("aborted", () => refuse("connection", `${url.host} broke off in the middle of its answer`))
  }
  request.on("response", read)
  request.on("error", fail)
  // 101 and the like: we never ask for another protocol, and nobody would close the detached socket.
  request.on("upgrade", (_answer, socket) => {
    socket.destroy()
    refuse("connection", `${url.host} tried to change the protocol`)
  })
  request.end(body)
  return request
}

/** Safe to repeat; any other request never uses a connection that may be closing. */
const isSafe = (method: string) => method === "GET" || method === "HEAD"

export const sendHttpRequest = (asked: HttpRequest): Effect.Effect<HttpResponse, Refusal> =>
  Effect.callback<HttpResponse, Refusal>((resume) => {
    const { addresses, headers, reuseKey, method, url } = asked
    const alone = () => send(asked, singleUseAgent(url, addresses), false, resume, () => {})
    let over = false
    let request: ClientRequest
    const again = () => {
      // Our own abort looks the same.
      if (!over) request = alone()
    }
    if (reuseKey === undefined || !isSafe(method)) request = alone()
    else request = send(asked, reusableAgent(url, addresses, headers, reuseKey), true, resume, again)
    return Effect.sync(() => {
      over = true
      request.destroy()
    })
  })
