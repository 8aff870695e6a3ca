/**
 * The feed as an async iterable that outlives broken connections: it goes on where it stood, so that nothing is missed and
 * nothing comes twice. `reload` is the one thing it cannot hide: what you know must be read again.
 */
// edge: reconnecting needs a timer.
import type { Event, FaceName } from "@stoa/contract"
import { type Frame, framing } from "./frames.ts"
import { type Connection, headersOf, notAHouse, refusalOf } from "./request.ts"
import { StoaError, StoaUnreachable } from "./StoaError.ts"
import type { Plain } from "./types.ts"

export type FeedEvent = Plain<Event>

export type FeedItem =
  | { readonly type: "event"; readonly name: string; readonly cursor: number; readonly event: FeedEvent }
  | { readonly type: "delta"; readonly name: string; readonly delta: Readonly<Record<string, unknown>> }
  | { readonly type: "reload"; readonly cursor: number; readonly reason: string }

/** Where the stream stands, told by the house before anything has happened: the reader goes on from there. */
interface Place {
  readonly type: "place"
  readonly cursor: number
}

export interface FeedOptions {
  /** Go on after this cursor; 0 is the beginning. Without it: from now. */
  readonly after?: number
  readonly space?: string
  readonly names?: FaceName
  /** Ends the feed, without an error. */
  readonly signal?: AbortSignal
  /** Told when the connection was lost and will be made again. */
  readonly onReconnect?: (why: string, waitMillis: number) => void
  /** How long silence may last before the connection is taken for dead. The house makes itself heard every 20 s. */
  readonly patienceMillis?: number
}

const usualPatience = 45_000
const longestWait = 15_000

/** Doubling, with chance in it: a house that comes back is not met by everybody at once. */
const waitAfter = (failures: number, cause: unknown): number => {
  const doubled = Math.min(longestWait, 100 * 2 ** failures) * (0.5 + Math.random() / 2)
  const told = cause instanceof StoaError ? (cause.retryAfter ?? 0) * 1000 : 0
  return Math.max(doubled, told)
}

const pause = (millis: number, signal: AbortSignal | undefined) =>
  new Promise<void>((done) => {
    if (signal?.aborted === true) return done()
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", finish)
      done()
    }
    const timer = setTimeout(finish, millis)
    signal?.addEventListener("abort", finish)
  })

/** A refusal will be one again; a house that is busy or starting will not. */
const isFinal = (cause: unknown): boolean =>
  cause instanceof StoaError && cause.status < 500 && cause.status !== 429 && cause.status !== 408

export async function* feed(connection: Connection, options: FeedOptions = {}): AsyncGenerator<FeedItem, void, void> {
  let after = options.after
  let failures = 0
  const stopped = () => options.signal?.aborted === true
  while (!stopped()) {
    const began = performance.now()
    let lost: unknown = new Error("the stream ended")
    try {
      for await (const item of stream(connection, options, after)) {
        // A repeat would be a fault of the house; whoever counts on us must not see it.
        if (item.type === "event" && after !== undefined && item.cursor <= after) continue
        if (item.type !== "delta") after = item.cursor
        if (item.type === "place") continue
        failures = 0
        yield item
        if (stopped()) return
      }
    } catch (cause) {
      if (stopped()) return
      if (isFinal(cause)) throw cause
      lost = cause
    }
    if (stopped()) return
    // A connection that stood for long was a good one, though nothing happened on it.
    if (performance.now() - began > longestWait) failures = 0
    const wait = waitAfter(failures++, lost)
    options.onReconnect?.(lost instanceof Error ? lost.message : String(lost), wait)
    await pause(wait, options.signal)
  }
}

/** One connection, until it ends or nothing is heard on it. */
async function* stream(connection: Connection, options: FeedOptions, after: number | undefined) {
  const line = new AbortController()
  const hangUp = () => line.abort()
  options.signal?.addEventListener("abort", hangUp)
  let silent = false
  const heard = async <A>(sign: Promise<A>): Promise<A> => {
    const timer = setTimeout(() => {
      silent = true
      line.abort()
    }, options.patienceMillis ?? usualPatience)
    try {
      return await sign
    } catch (cause) {
      throw silent ? new Error("nothing was heard for too long", { cause }) : cause
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    const response = await heard(open(connection, options, after, line.signal))
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    const frames = framing()
    for (;;) {
      const { done, value } = await heard(reader.read())
      if (done) return
      for (const frame of frames(decoder.decode(value, { stream: true }))) {
        const item = itemOf(frame)
        if (item !== undefined) yield item
      }
    }
  } finally {
    options.signal?.removeEventListener("abort", hangUp)
    line.abort()
  }
}

const open = async (
  connection: Connection,
  options: FeedOptions,
  after: number | undefined,
  signal: AbortSignal,
): Promise<Response> => {
  const path =
    options.space === undefined ? "/api/v1/events" : `/api/v1/spaces/${encodeURIComponent(options.space)}/events`
  const url = new URL(connection.url + path)
  if (options.names !== undefined) url.searchParams.set("names", options.names)
  const headers: Record<string, string> = { ...headersOf(connection), accept: "text/event-stream" }
  if (after !== undefined) headers["last-event-id"] = String(after)
  const response = await connection.fetch(url, { headers, signal }).catch((cause: unknown) => {
    throw new StoaUnreachable(connection.url, cause)
  })
  if (!response.ok) throw await refusalOf(response)
  const type = response.headers.get("content-type") ?? ""
  if (!type.startsWith("text/event-stream") || response.body === null) throw notAHouse(connection, response)
  return response
}

const cursorIn = (value: unknown): number | undefined => {
  const cursor = typeof value === "string" && value !== "" ? Number(value) : value
  return Number.isSafeInteger(cursor) && (cursor as number) >= 0 ? (cursor as number) : undefined
}

/** What cannot be read is passed over, but its place is kept: a frame of a newer house must not be asked for again and again. */
export const itemOf = (frame: Frame): FeedItem | Place | undefined => {
  const data = objectIn(frame.data)
  const cursor = cursorIn(data?.["cursor"]) ?? cursorIn(frame.id)
  const place = cursor === undefined ? undefined : { type: "place" as const, cursor }
  if (data === undefined) return place
  if (frame.event === "close") return undefined
  if (frame.event === "reload")
    return place === undefined ? undefined : { ...place, type: "reload", reason: String(data["reason"]) }
  if (typeof data["kind"] !== "string") return place
  return place === undefined
    ? { type: "delta", name: frame.event, delta: data }
    : { ...place, type: "event", name: frame.event, event: data as unknown as FeedEvent }
}

const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const data = JSON.parse(text) as unknown
    return typeof data === "object" && data !== null && !Array.isArray(data)
      ? (data as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
