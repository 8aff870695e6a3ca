/**
 * The feed as an async iterable that survives broken connections: it resumes at its cursor, so that nothing is missed
 * or repeated. `reload` is passed on: the caller must load the current state again.
 */
import type { Event, FaceName } from "@stoa/contract"
import type { Frame } from "./frames.ts"
import type { Connection } from "../request.ts"
import { isFinal, objectIn, pause, stream, waitAfter } from "./stream.ts"
import type { Plain } from "../types.ts"

export type FeedEvent = Plain<Event>

export type FeedItem =
  | { readonly type: "event"; readonly name: string; readonly cursor: number; readonly event: FeedEvent }
  | { readonly type: "delta"; readonly name: string; readonly delta: Readonly<Record<string, unknown>> }
  | { readonly type: "reload"; readonly cursor: number; readonly reason: string }

/** The position of the stream, sent by the house before the first event: the client resumes from there. */
interface Place {
  readonly type: "place"
  readonly cursor: number
}

export interface FeedOptions {
  /** Start after this cursor; 0 is the beginning. Without it: from now. */
  readonly after?: number
  readonly space?: string
  readonly names?: FaceName
  /** Ends the feed, without an error. */
  readonly signal?: AbortSignal
  /**
   * Called when the stream is open: everything from now on arrives. What is read after this is not older than the feed.
   */
  readonly onStand?: () => void
  /** Called when the connection was lost and will be restored. */
  readonly onReconnect?: (why: string, waitMillis: number) => void
  /** How long silence may last before the connection counts as dead. The house sends a heartbeat every 20 s. */
  readonly patienceMillis?: number
}

const longestWait = 15_000

export async function* feed(connection: Connection, options: FeedOptions = {}): AsyncGenerator<FeedItem, void, void> {
  let after = options.after
  let failures = 0
  const stopped = () => options.signal?.aborted === true
  while (!stopped()) {
    const began = performance.now()
    let lost: unknown = new Error("the stream ended")
    try {
      for await (const item of items(connection, options, after)) {
        // A repeat would be a bug of the house; the caller must not see it.
        if (item.type === "event" && after !== undefined && item.cursor <= after) continue
        if (item.type !== "delta") after = item.cursor
        if (item.type === "place") {
          options.onStand?.()
          continue
        }
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
    // A connection that was open for long was a good one, even if nothing happened on it.
    if (performance.now() - began > longestWait) failures = 0
    const wait = waitAfter(failures++, lost, longestWait)
    options.onReconnect?.(lost instanceof Error ? lost.message : String(lost), wait)
    await pause(wait, options.signal)
  }
}

/** What the house writes on one connection. */
async function* items(connection: Connection, options: FeedOptions, after: number | undefined) {
  const { names, patienceMillis, signal, space } = options
  const frames = stream(connection, {
    path: space === undefined ? "/api/v1/events" : `/api/v1/spaces/${encodeURIComponent(space)}/events`,
    ...(names === undefined ? {} : { query: { names } }),
    ...(after === undefined ? {} : { headers: { "last-event-id": String(after) } }),
    ...(signal === undefined ? {} : { signal }),
    ...(patienceMillis === undefined ? {} : { patienceMillis }),
  })
  for await (const frame of frames) {
    const item = itemOf(frame)
    if (item !== undefined) yield item
  }
}

const cursorIn = (value: unknown): number | undefined => {
  const cursor = typeof value === "string" && value !== "" ? Number(value) : value
  return Number.isSafeInteger(cursor) && (cursor as number) >= 0 ? (cursor as number) : undefined
}

/**
 * An unreadable frame is skipped, but its cursor is kept: a frame of a newer house must not be requested again and
 * again.
 */
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
