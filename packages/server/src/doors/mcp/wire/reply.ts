/**
 * One HTTP answer: JSON in one write, or, if there are messages before it, a stream that ends with it. For an old-era
 * session the stream can be resumed; otherwise it ends with its connection.
 */
// edge: writes node responses.
import type { IncomingMessage, ServerResponse } from "node:http"
import type { EventStream } from "./eventStream.ts"
import type { Session } from "../eras/old/sessions.ts"
import { featuresOf } from "./revision.ts"

/** After this time without an answer a stream is opened, so that proxies do not give up. */
const patienceMs = 10_000
const maxUnsent = 4 * 1024 * 1024

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
}

type Headers = Readonly<Record<string, string>>

export class Reply {
  readonly response: ServerResponse
  /** Whether the client accepts a stream, and whether it accepts only that. */
  readonly takesStream: boolean
  readonly #onlyStream: boolean
  readonly #base: Headers
  readonly #since: number
  /** Set once the session is known: then streams can be resumed. */
  session: Session | undefined
  /** Whether hanging up cancels the request. */
  diesWithConnection = false
  /** Stops the work on the request, while there is any. */
  stop: (() => void) | undefined
  /** A GET that waits for messages. */
  standing = false
  #stream: EventStream | undefined
  #state: "open" | "streaming" | "done" = "open"

  constructor(request: IncomingMessage, response: ServerResponse, base: Headers, now: number) {
    const accept = request.headers.accept ?? ""
    this.response = response
    this.takesStream = accept.includes("text/event-stream")
    this.#onlyStream = this.takesStream && !/application\/(json|\*)|\*\/\*/.test(accept)
    this.#base = base
    this.#since = now
  }

  get done(): boolean {
    return this.#state === "done"
  }

  /** Sends a message before the answer. False: this client cannot receive one. */
  tell(text: string): boolean {
    if (!this.openStream()) return false
    this.#event(text)
    return true
  }

  openStream(): boolean {
    if (this.#state === "streaming") return true
    if (this.#state === "done" || !this.takesStream) return false
    this.#state = "streaming"
    if (!this.response.destroyed) this.response.writeHead(200, { ...this.#base, ...streamHeaders })
    if (this.session === undefined) return true
    this.#stream = this.session.newStream(this.standing)
    this.#stream.attach(this.response)
    if (featuresOf(this.session.revision).priming) this.#stream.prime()
    else this.response.flushHeaders()
    return true
  }

  /** Continues a stream that lost its client. */
  resume(stream: EventStream, missed: ReadonlyArray<string>): void {
    this.#state = "done"
    if (this.response.destroyed) return
    this.response.writeHead(200, { ...this.#base, ...streamHeaders })
    this.response.write(missed.join(""))
    if (stream.ended) this.response.end()
    else stream.attach(this.response)
  }

  /** Closes the connection; later messages are kept for the client to resume. Only if the client supports that. */
  letGo(retryMs: number): void {
    if (this.session === undefined || !featuresOf(this.session.revision).priming || !this.openStream()) return
    this.#stream!.prime(retryMs)
    this.#stream!.letGo()
  }

  answer(text: string, headers?: Headers): void {
    if (this.#state === "open" && this.#onlyStream) this.openStream()
    if (this.#state === "streaming") {
      this.#event(text)
      return this.#end()
    }
    this.#json(200, text, headers)
  }

  /** A fault with an HTTP status. In a stream it is just the last message: the status was sent long ago. */
  refuse(status: number, text: string, headers?: Headers): void {
    if (this.#state === "streaming") return this.answer(text)
    this.#json(status, text, headers)
  }

  /** No body at all: accepted, or ended without an answer. */
  empty(status: number, headers?: Headers): void {
    if (this.#state === "streaming") return this.#end()
    if (this.#state === "done") return
    this.#state = "done"
    if (this.response.destroyed) return
    this.response.writeHead(status, { ...this.#base, "content-length": "0", ...headers })
    this.response.end()
  }

  /** For a cancelled request: no response is sent, only an end. */
  silence(): void {
    if (this.#state !== "open" || !this.takesStream) return this.empty(202)
    this.#state = "done"
    if (this.response.destroyed) return
    this.response.writeHead(200, { ...this.#base, ...streamHeaders })
    this.response.end()
  }

  beat(now: number): void {
    const due = this.#state === "streaming" || (this.#state === "open" && now - this.#since >= patienceMs)
    if (!due || !this.openStream()) return
    if (this.#stream !== undefined) this.#stream.beat()
    else if (!this.response.destroyed) this.response.write(":\n\n")
  }

  #event(text: string): void {
    if (this.#stream !== undefined) return this.#stream.write(text)
    if (this.response.destroyed) return
    this.response.write(`event: message\ndata: ${text}\n\n`)
    if (this.response.writableLength > maxUnsent) this.response.destroy()
  }
  #end(): void {
    this.#state = "done"
    if (this.#stream !== undefined) this.#stream.end()
    else this.response.end()
  }
  #json(status: number, text: string, headers?: Headers): void {
    if (this.#state === "done") return
    this.#state = "done"
    if (this.response.destroyed) return
    const bytes = Buffer.byteLength(text)
    this.response.writeHead(status, {
      ...this.#base,
      "content-type": "application/json",
      "content-length": String(bytes),
      ...headers,
    })
    // One byte per character: latin1 and UTF-8 are the same here, and latin1 is written faster.
    this.response.end(text, bytes === text.length ? "latin1" : "utf8")
  }
}
