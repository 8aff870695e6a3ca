/**
 * Many subscribers of a feed in one process, on raw sockets. Each checks that every cursor is the one before plus one; a
 * gap, a repeat, a reload or a closed stream is counted. Delay is from the event's own time (before its COMMIT) to here.
 */
import { connect } from "node:net"
import { serveQuestions } from "./children.ts"

export type SubscribersQuestion =
  | { readonly do: "open"; readonly port: number; readonly token: string; readonly count: number }
  | { readonly do: "report" }
  | { readonly do: "reset" }
  | { readonly do: "close" }
export interface SubscribersAnswer {
  readonly open: number
  /** The fewest and the most events that one subscriber has got since the last reset. */
  readonly fewest: number
  readonly most: number
  readonly faults: number
  readonly reloads: number
  readonly closed: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

const mark = Buffer.from("\nid: ")
const reload = Buffer.from("event: reload")
/** Delays by the millisecond, the last for all that is longer. */
const millis = new Uint32Array(30_000)
/** When each event happened: its text is read once, by whoever gets it first. */
let times = new Map<number, number>()
const seen = { faults: 0, reloads: 0, closed: 0, ready: 0 }

class Subscriber {
  got = 0
  #last = -1
  #rest: Buffer = Buffer.alloc(0)
  readonly #socket

  constructor(port: number, token: string) {
    this.#socket = connect({ port, host: "127.0.0.1" })
    this.#socket.write(
      `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    this.#socket.once("data", () => seen.ready++)
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk))
    this.#socket.on("close", () => seen.closed++)
    this.#socket.on("error", () => {})
  }

  close(): void {
    this.#socket.removeAllListeners("close")
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    const now = performance.timeOrigin + performance.now()
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = bytes.indexOf(mark)
    let read = 0
    while (at >= 0) {
      const next = bytes.indexOf(mark, at + mark.length)
      // A frame is whole when the next one has begun, or when its data has ended.
      const end = next >= 0 ? next : bytes.indexOf("\n\n", at + mark.length)
      if (end < 0) break
      this.#frame(bytes, at + mark.length, end, now)
      read = end
      at = next
    }
    // The newline before an id is the end of the frame before it.
    this.#rest = read === 0 && at < 0 ? bytes.subarray(Math.max(0, bytes.length - 8)) : bytes.subarray(read)
  }

  #frame(bytes: Buffer, from: number, end: number, now: number): void {
    let cursor = 0
    let i = from
    for (; bytes[i] !== 10; i++) cursor = cursor * 10 + bytes[i]! - 48
    // An id without an event says where the stream stands.
    if (bytes[i + 1] === 10) return void (this.#last = cursor)
    if (bytes.subarray(from, Math.min(end, from + 60)).includes(reload)) return void seen.reloads++
    if (this.#last >= 0 && cursor !== this.#last + 1) seen.faults++
    this.#last = cursor
    this.got++
    let happened = times.get(cursor)
    if (happened === undefined) {
      happened = Date.parse(/"at":"([^"]+)"/.exec(bytes.toString("latin1", from, end))?.[1] ?? "")
      times.set(cursor, happened)
    }
    millis[Math.min(millis.length - 1, Math.max(0, Math.round(now - happened)))]!++
  }
}

let subscribers: Array<Subscriber> = []

const after = (pause: number) => new Promise((resolve) => setTimeout(resolve, pause))

const open = async (port: number, token: string, count: number): Promise<void> => {
  const until = performance.now() + 30_000
  seen.ready = seen.closed = 0
  for (let made = 0; made < count && performance.now() < until;) {
    for (let i = 0; i < 50 && made < count; i++, made++) subscribers.push(new Subscriber(port, token))
    while (seen.ready < made && seen.closed === 0 && performance.now() < until) await after(5)
  }
}

const reset = (): void => {
  millis.fill(0)
  times = new Map()
  seen.faults = seen.reloads = seen.closed = 0
  for (const one of subscribers) one.got = 0
}

const delayAt = (share: number): number => {
  const all = millis.reduce((before, more) => before + more, 0)
  let sum = 0
  for (const [delay, count] of millis.entries()) {
    sum += count
    if (count > 0 && sum >= all * share) return delay
  }
  return Number.NaN
}

serveQuestions(async (question: SubscribersQuestion): Promise<SubscribersAnswer> => {
  if (question.do === "open") await open(question.port, question.token, question.count)
  if (question.do === "close") {
    for (const one of subscribers) one.close()
    subscribers = []
  }
  if (question.do === "open" || question.do === "reset") reset()
  const got = subscribers.map((one) => one.got)
  return {
    open: seen.ready,
    fewest: Math.min(...got),
    most: Math.max(...got),
    faults: seen.faults,
    reloads: seen.reloads,
    closed: seen.closed,
    p50: delayAt(0.5),
    p99: delayAt(0.99),
    longest: delayAt(1),
  }
})
