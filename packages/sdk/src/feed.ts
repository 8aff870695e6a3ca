/**
 * The feed as an async iterable that outlives broken connections: it goes on where it stood, so that nothing is missed and
 * nothing comes twice. `reload` is the one thing it cannot hide: what you know must be read again.
 */
// edge: reconnecting needs a timer.
import type { Event, FaceName } from "@stoa/contract"
import { Sse } from "effect/encoding"
import { type Connection, headersOf } from "./request.ts"
import { StoaError, StoaUnreachable } from "./StoaError.ts"
import type { Plain } from "./types.ts"

export type FeedEvent = Plain<Event>

export type FeedItem =
  | { readonly type: "event"; readonly name: string; readonly cursor: number; readonly event: FeedEvent }
  | { readonly type: "delta"; readonly name: string; readonly delta: Readonly<Record<string, unknown>> }
  | { readonly type: "reload"; readonly cursor: number; readonly reason: string }

export interface FeedOptions {
  /** Go on after this cursor; 0 is the beginning. Without it: from now. */
  readonly after?: number
  readonly space?: string
  readonly names?: FaceName
  readonly signal?: AbortSignal
  /** Told when the connection was lost and will be made again. */
  readonly onReconnect?: (why: string, waitMillis: number) => void
}

const longestWait = 15_000

const pause = (millis: number, signal: AbortSignal | undefined) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, millis)
    signal?.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true })
  })

export async function* feed(connection: Connection, options: FeedOptions = {}): AsyncGenerator<FeedItem, void, void> {
  let after = options.after
  let failures = 0
  const stopped = () => options.signal?.aborted === true
  while (!stopped()) {
    let why = "the stream ended"
    try {
      for await (const item of stream(connection, options, after)) {
        failures = 0
        if (item.type !== "delta") after = item.cursor
        yield item
      }
    } catch (cause) {
      if (stopped()) return
      // A refusal will be one again; a broken connection may not.
      if (cause instanceof StoaError && cause.status < 500 && cause.status !== 429) throw cause
      why = (cause as Error).message
    }
    if (stopped()) return
    const wait = Math.min(longestWait, 100 * 2 ** failures++) * (0.5 + Math.random() / 2)
    options.onReconnect?.(why, wait)
    await pause(wait, options.signal)
  }
}

async function* stream(connection: Connection, options: FeedOptions, after: number | undefined) {
  const path =
    options.space === undefined ? "/api/v1/events" : `/api/v1/spaces/${encodeURIComponent(options.space)}/events`
  const url = new URL(path, connection.url)
  if (options.names !== undefined) url.searchParams.set("names", options.names)
  const headers: Record<string, string> = { ...headersOf(connection), accept: "text/event-stream" }
  if (after !== undefined) headers["last-event-id"] = String(after)
  const init: RequestInit = { headers }
  if (options.signal !== undefined) init.signal = options.signal
  const response = await connection.fetch(url, init).catch((cause: unknown) => {
    throw new StoaUnreachable(connection.url, cause)
  })
  if (!response.ok) throw new StoaError(response.status, (await response.json()) as Record<string, unknown>)
  const items: Array<FeedItem> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") {
      const item = itemOf(event)
      if (item !== undefined) items.push(item)
    }
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const error = parser.feed(decoder.decode(chunk, { stream: true }))
    if (error !== undefined) throw new Error("the feed could not be read", { cause: error })
    yield* items.splice(0)
  }
}

const itemOf = (frame: Sse.Event): FeedItem | undefined => {
  const name = frame.event
  const data = JSON.parse(frame.data) as Record<string, unknown>
  if (name === "close") return undefined
  if (name === "reload") return { type: "reload", cursor: Number(data["cursor"]), reason: String(data["reason"]) }
  const cursor = data["cursor"]
  return typeof cursor === "number"
    ? { type: "event", name, cursor, event: data as unknown as FeedEvent }
    : { type: "delta", name, delta: data }
}
