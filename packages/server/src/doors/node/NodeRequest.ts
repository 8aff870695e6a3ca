/** A node:http request as effect/http sees it. Headers, cookies and body are read on demand. */
// edge: reads a node stream.
import type { IncomingMessage, ServerResponse } from "node:http"
import { BadInput, TooLarge } from "@stoa/contract"
import { Effect, Inspectable, Option, Stream } from "effect"
import {
  Cookies,
  Headers,
  HttpIncomingMessage,
  HttpServerError,
  HttpServerRequest,
  Multipart,
  UrlParams,
} from "effect/http"
import { yieldToEventLoop } from "../../store/fibers/EventLoop.ts"
import { bodyFault, hasNul } from "./Body.ts"
import type { Target } from "./Target.ts"
import { problemResponse } from "../Problems.ts"

/** The largest body that is accepted. */
export const largestBody = 4 * 1024 * 1024

export class NodeRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: typeof HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly source: IncomingMessage
  readonly response: ServerResponse
  readonly target: Target
  readonly url: string
  readonly protocol = "http" as const
  #headers: Headers.Headers | undefined
  #cookies: HttpServerRequest.HttpServerRequest["cookies"] | undefined
  #bytes: Effect.Effect<Buffer, never> | undefined
  #largest = largestBody
  readonly #remote: Option.Option<string> | undefined

  constructor(
    source: IncomingMessage,
    response: ServerResponse,
    target: Target,
    url = source.url ?? "/",
    remote?: Option.Option<string>,
    headers?: Headers.Headers,
  ) {
    super()
    this.source = source
    this.response = response
    this.target = target
    this.url = url
    this.#remote = remote
    this.#headers = headers
  }

  get method(): string {
    // A HEAD is routed and answered like its GET; the response leaves the body out.
    return this.source.method === "HEAD" ? "GET" : (this.source.method ?? "GET")
  }
  get originalUrl(): string {
    return this.source.url ?? "/"
  }
  get headers(): Headers.Headers {
    return (this.#headers ??= Headers.fromInput(this.source.headers as Record<string, string>))
  }
  /** Names and values by turns, as they were sent. */
  get rawHeaders(): ReadonlyArray<string> {
    return this.source.rawHeaders
  }
  get cookies(): HttpServerRequest.HttpServerRequest["cookies"] {
    return (this.#cookies ??= Cookies.parseHeader(this.source.headers.cookie ?? ""))
  }
  get remoteAddress(): Option.Option<string> {
    return this.#remote ?? Option.fromNullishOr(this.source.socket.remoteAddress)
  }
  get peerAddress(): Option.Option<string> {
    return Option.fromNullishOr(this.source.socket.remoteAddress)
  }

  modify(options: Parameters<HttpServerRequest.HttpServerRequest["modify"]>[0]): NodeRequest {
    return new NodeRequest(
      this.source,
      this.response,
      this.target,
      options.url ?? this.url,
      options.remoteAddress ?? this.#remote,
      options.headers ?? this.#headers,
    )
  }

  /** Lowers the limit of the body. */
  limitBody(bytes: number): void {
    this.#largest = bytes
  }
  get #body(): Effect.Effect<Buffer, never> {
    // A body can be read once; later readers get the same bytes.
    return (this.#bytes ??= Effect.runSync(Effect.cached(readBody(this.source, this.#largest))))
  }
  get #plain(): Effect.Effect<string, HttpServerError.HttpServerError> {
    return Effect.flatMap(this.#body, (bytes) => {
      const text = bytes.toString("utf8")
      return hasNul(text) ? refused("has a NUL character (\\u0000); leave it out") : unhurried(text)
    })
  }
  /** Checked here, because effect/http-api reads the text and parses it by itself. */
  get text(): Effect.Effect<string, HttpServerError.HttpServerError> {
    return Effect.flatMap(this.#plain, (text) => {
      const fault = bodyFault(text)
      return fault === undefined ? unhurried(text) : refused(fault)
    })
  }
  get json(): Effect.Effect<never, HttpServerError.HttpServerError> {
    return Effect.flatMap(this.text, (text) =>
      Effect.try({ try: () => JSON.parse(text) as never, catch: (cause) => this.#unreadable(cause) }),
    )
  }
  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpServerError.HttpServerError> {
    return Effect.map(this.#body, (bytes) => new Uint8Array(bytes).buffer)
  }
  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpServerError.HttpServerError> {
    return Effect.map(this.#plain, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }
  get stream(): Stream.Stream<Uint8Array, HttpServerError.HttpServerError> {
    return Stream.fromEffect(this.#body)
  }
  get multipart(): HttpServerRequest.HttpServerRequest["multipart"] {
    return Effect.fail(Multipart.MultipartError.fromReason("Parse", new Error("multipart bodies are not accepted")))
  }
  get multipartStream(): HttpServerRequest.HttpServerRequest["multipartStream"] {
    return Stream.fail(Multipart.MultipartError.fromReason("Parse", new Error("multipart bodies are not accepted")))
  }
  get upgrade(): HttpServerRequest.HttpServerRequest["upgrade"] {
    return Effect.fail(this.#unreadable(new Error("no upgrade here")))
  }
  upgradeWith(): HttpServerRequest.HttpServerRequest["upgrade"] {
    return this.upgrade
  }

  #unreadable(cause: unknown): HttpServerError.HttpServerError {
    return new HttpServerError.HttpServerError({
      reason: new HttpServerError.RequestParseError({ request: this, cause }),
    })
  }
  toJSON(): unknown {
    return { _id: "HttpServerRequest", method: this.method, path: this.target.path }
  }
}

/** Other requests run between the steps of a large body. */
const large = 64 * 1024
const unhurried = (text: string): Effect.Effect<string> =>
  text.length <= large ? Effect.succeed(text) : Effect.as(yieldToEventLoop, text)

/** A body that is refused before it is parsed, and the reason. */
const refused = (message: string) =>
  Effect.suspend(() => Effect.die(problemResponse(new BadInput({ issues: [{ path: "body", message }] }))))

/** A body that is too large ends the request with an answer: no handler sees half a body. */
const tooLarge = (size: number | null, limit: number) =>
  Effect.die(problemResponse(new TooLarge({ noun: "body", size, limit })))

const readBody = (source: IncomingMessage, largest: number): Effect.Effect<Buffer, never> =>
  Effect.suspend(() => {
    const announced = Number(source.headers["content-length"] ?? 0)
    if (announced > largest) return tooLarge(announced, largest)
    return Effect.callback<Buffer, never>((resume) => {
      const chunks: Array<Buffer> = []
      let size = 0
      source.on("data", (chunk: Buffer) => {
        size += chunk.length
        if (size <= largest) return void chunks.push(chunk)
        source.pause()
        source.removeAllListeners("data")
        resume(tooLarge(null, largest))
      })
      source.on("end", () => resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
      source.on("error", () => resume(Effect.interrupt))
    })
  })
