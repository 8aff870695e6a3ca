/**
 * A load generator on raw sockets, so that it costs less than what it measures. Either as fast as the connections answer
 * (one request in flight on each), or at a fixed pace, when a request that finds no free connection waits in line.
 */
import { connect, type Socket } from "node:net"
import { type Delays, delaysOf } from "../kit/measure.ts"
import { serveQuestions } from "./children.ts"

export interface LoadQuestion {
  readonly port: number
  readonly connections: number
  readonly method: string
  readonly path: string
  readonly token: string
  /** `#` in it becomes a number that never comes twice. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Others that are sent in turn with it. */
  readonly more?: ReadonlyArray<Pick<LoadQuestion, "method" | "path" | "body">>
  /** An answer without this text is as good as refused. */
  readonly expect?: string
  readonly warmMillis: number
  readonly millis: number
  /** No more than so many requests, all within the time. */
  readonly count?: number
  /** Requests a second; as fast as it goes, if not given. */
  readonly pace?: number
  /** Each connection has had an answer before anything counts: Node takes up one new connection in a turn of the loop. */
  readonly stands?: boolean
  /** At a pace: so many are due at once, each on a connection that is made for it. */
  readonly newcomers?: number
}
export interface LoadAnswer extends Delays {
  readonly answered: number
  /** All of them, those that warm up included. */
  readonly sent: number
  readonly perSecond: number
  /** Answers that were not 2xx, or not what was expected. */
  readonly refused: number
  /** The first of those. */
  readonly fault?: string
}

const unique = `${process.pid}-${Date.now().toString(36)}`
let made = 0

const requestOf = ({ body, headers = {}, method, path, port, token }: LoadQuestion): (() => string) => {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n${own.join("")}`
  if (body === undefined) return () => `${head}\r\n`
  return () => {
    const text = body.replace("#", `${unique}-${made++}`)
    return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  }
}

const chunked = /\r\ntransfer-encoding: chunked\r\n/i

class Connection {
  readonly #socket: Socket
  #answer: ((status: number, text: string) => void) | undefined
  #known = ""

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true })
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk.toString("latin1")))
    this.#socket.on("close", () => this.#answer?.(0, "the connection was closed"))
    this.#socket.on("error", () => {})
  }

  send(request: string): Promise<readonly [status: number, text: string]> {
    return new Promise((resolve) => {
      this.#answer = (status, text) => resolve([status, text])
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#answer = undefined
    this.#socket.destroy()
  }

  #take(chunk: string): void {
    this.#known += chunk
    const head = this.#known.indexOf("\r\n\r\n")
    if (head < 0) return
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#known)
    if (length === null && chunked.test(this.#known.slice(0, head + 2))) {
      if (!this.#known.endsWith("\r\n0\r\n\r\n")) return
    } else if (this.#known.length < head + 4 + Number(length?.[1] ?? 0)) return
    const text = this.#known
    this.#known = ""
    const answer = this.#answer
    this.#answer = undefined
    answer?.(Number(text.slice(9, 12)), text)
  }
}

const reply = async (question: LoadQuestion): Promise<LoadAnswer> => {
  const connections = Array.from({ length: question.connections }, () => new Connection(question.port))
  const makers = [question, ...(question.more ?? []).map((one) => ({ ...question, body: undefined, ...one }))].map(
    (one) => requestOf(one as LoadQuestion),
  )
  let turn = 0
  const make = () => makers[turn++ % makers.length]!()
  const took: Array<number> = []
  if (question.stands === true) await Promise.all(connections.map((connection) => connection.send(makers[0]!())))
  const warmUntil = performance.now() + question.warmMillis
  const end = warmUntil + question.millis
  let refused = 0
  let sent = 0
  let left = question.count ?? Infinity
  let fault: string | undefined

  const send = async (connection: Connection, since: number) => {
    sent++
    const [status, text] = await connection.send(make())
    const now = performance.now()
    if (status < 200 || status > 299 || (question.expect !== undefined && !text.includes(question.expect))) {
      refused++
      fault ??= text.slice(0, 2000)
    }
    if (since >= warmUntil) took.push(now - since)
    return status
  }
  const flatOut = async (connection: Connection) => {
    while (performance.now() < end && left-- > 0) if ((await send(connection, performance.now())) === 0) return
  }
  const paced = async (pace: number) => {
    const started = performance.now()
    const free = [...connections]
    const line: Array<number> = []
    const all = Math.round((pace * question.millis) / 1000)
    const together = question.newcomers ?? 1
    const dueAt = (at: number) => started + ((at - (at % together)) * 1000) / pace
    let due = 0
    let done = 0
    await new Promise<void>((resolve) => {
      const one = async (connection: Connection) => {
        while (line.length > 0) {
          await send(connection, line.shift()!)
          if (++done === all) resolve()
        }
        if (question.newcomers === undefined) free.push(connection)
        else connection.close()
      }
      const serve = () => {
        while (line.length > 0 && free.length > 0) void one(free.pop()!)
      }
      const tick = setInterval(() => {
        for (; due < all && dueAt(due) <= performance.now(); due++) {
          line.push(dueAt(due))
          if (question.newcomers !== undefined) free.push(new Connection(question.port))
        }
        if (due === all) clearInterval(tick)
        serve()
      }, 2)
    })
  }

  const started = performance.now()
  await (question.pace === undefined ? Promise.all(connections.map(flatOut)) : paced(question.pace))
  const seconds = (performance.now() - Math.max(started, warmUntil)) / 1000
  for (const connection of connections) connection.close()
  return {
    answered: took.length,
    sent,
    perSecond: took.length / seconds,
    refused,
    ...(fault === undefined ? {} : { fault }),
    ...delaysOf(took),
  }
}

serveQuestions(reply)
