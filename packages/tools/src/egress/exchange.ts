// edge: node:http and zlib are streams and events.
/**
 * One request and its answer on one connection, to addresses that were checked before: the name is never looked up
 * again, so it cannot point elsewhere by then. No agent is shared, so no connection outlives the policy it was made under.
 */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { Effect } from "effect"
import { type Headers, hostOf, type Refusal } from "./Policy.ts"

export interface Exchange {
  readonly url: URL
  readonly addresses: ReadonlyArray<string>
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  readonly maxBytes: number
  readonly maxHeaderBytes: number
  /** A longer body is cut rather than refused. */
  readonly cut: boolean
}

export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly body: Uint8Array
  readonly truncated: boolean
}

/** Answers with what was checked, whatever is asked. */
const pinned =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_host, options, done) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = all
    if (options.all === true) done(null, all)
    else if (first === undefined) done(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "", 0)
    else done(null, first.address, first.family)
  }

/** One encoding at most: encodings within encodings are how a bomb is packed small. */
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

export const exchange = (asked: Exchange): Effect.Effect<Answer, Refusal> =>
  Effect.callback<Answer, Refusal>((resume) => {
    const { body, method, url } = asked
    const secure = url.protocol === "https:"
    const refuse = (reason: Refusal["reason"], detail: string) => resume(Effect.fail({ reason, detail }))
    const options = {
      protocol: url.protocol,
      hostname: hostOf(url),
      port: url.port || (secure ? 443 : 80),
      path: `${url.pathname}${url.search}`,
      method,
      headers: {
        "user-agent": "stoa",
        accept: "*/*",
        ...asked.headers,
        "accept-encoding": "gzip, deflate, br",
        connection: "close",
        ...(body === undefined ? {} : { "content-length": String(body.length) }),
      },
      lookup: pinned(asked.addresses),
      maxHeaderSize: asked.maxHeaderBytes,
      insecureHTTPParser: false,
    }
    const request = secure
      ? httpsRequest({ ...options, agent: new HttpsAgent({ keepAlive: false }) })
      : httpRequest({ ...options, agent: new HttpAgent({ keepAlive: false }) })
    const fail = (error: Error & { readonly code?: string }) =>
      error.code === "HPE_HEADER_OVERFLOW"
        ? refuse("too-large", `the headers have more than ${asked.maxHeaderBytes} bytes`)
        : refuse("connection", `${url.host} did not answer properly (${error.code ?? error.message})`)
    const read = (answer: IncomingMessage) => {
      const { statusCode: status = 0, statusMessage: statusText = "" } = answer
      const end = (chunks: ReadonlyArray<Uint8Array>, truncated: boolean) => {
        resume(Effect.succeed({ status, statusText, headers: flat(answer), body: Buffer.concat(chunks), truncated }))
        request.destroy()
      }
      // Nobody reads the body of a redirect.
      if (isRedirect(status) && answer.headers.location !== undefined) return end([], false)
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
        // The verdict comes before the end of the stream, which would look like a broken connection.
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
    // 101 and its like: nobody asked for another protocol, and a socket given away is a socket nobody closes.
    request.on("upgrade", (_answer, socket) => {
      socket.destroy()
      refuse("connection", `${url.host} tried to change the protocol`)
    })
    request.end(body)
    return Effect.sync(() => void request.destroy())
  })
