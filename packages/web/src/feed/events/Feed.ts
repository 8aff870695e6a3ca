/**
 * One feed per browser. A browser allows an address six connections and a feed occupies one, so one tab holds it
 * (chosen by a lock) and tells the others; when it closes, the next one resumes at its own last cursor.
 */
// edge: tabs, locks and reconnecting are the browser's.
import { connect, type FeedItem, StoaError } from "@stoa/sdk"
import { apply } from "./apply.ts"
import { later, now } from "../clock.ts"
import { house } from "../house.ts"
import { takeDelta } from "./signals.ts"
import { makeStore } from "../store.ts"

export type Live =
  | { readonly state: "live" | "offline" | "opening" }
  | { readonly state: "waiting"; readonly until: number }

export const live = makeStore<Live>({ state: "opening" })

type TabMessage =
  | { readonly who: string; readonly item: FeedItem }
  | { readonly who: string; readonly live: Live }
  | { readonly who: string; readonly asks: true }
  | { readonly who: string; readonly over: true }

const batchMillis = 50
const hour = 60 * 60_000

/** Open before the first request: messages of another tab are held meanwhile, and then used if they are newer. */
const channel = new BroadcastChannel("stoa-feed")
let held: Array<TabMessage> = []
const hold = (said: TabMessage) => void held.push(said)
let listener: (said: TabMessage) => void = hold
channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => listener(data))

export interface FeedOptions {
  readonly me: string
  readonly after: number
  /** What the user may see has changed, or too much was missed: reload everything. */
  readonly restart: () => void
  readonly signedOut: () => void
}

let close: (() => void) | undefined
export const closeFeed = (): void => close?.()

export const openFeed = ({ after, me, restart, signedOut }: FeedOptions): void => {
  closeFeed()
  let cursor = after
  let leads = false
  let heardAt = now()
  let waiting: Array<FeedItem & { readonly type: "event" }> = []
  let flushing: (() => void) | undefined
  const stop = new AbortController()

  const flush = () => {
    flushing = undefined
    const events = waiting.map(({ event }) => event)
    waiting = []
    if (apply(events, me)) restart()
  }
  const take = (item: FeedItem) => {
    heardAt = now()
    if (item.type === "delta") return takeDelta(item.delta)
    if (item.cursor <= cursor) return
    cursor = item.cursor
    if (item.type === "reload") return restart()
    waiting.push(item)
    flushing ??= later(batchMillis, flush)
  }
  const tell = (said: TabMessage) => channel.postMessage(said)
  const tellLive = (state: Live) => {
    live.set(() => state)
    if (leads) tell({ who: me, live: state })
  }
  const hear = (said: TabMessage) => {
    if ("over" in said) return signedOut()
    if (said.who !== me) return
    if ("item" in said) take(said.item)
    else if ("live" in said) live.set(() => said.live)
    else if (leads) tell({ who: me, live: live.get() })
  }
  listener = hear
  const before = held
  held = []
  for (const said of before) if (!("over" in said)) hear(said)
  tell({ who: me, asks: true })

  let opened = false
  const watched: typeof fetch = async (input, init) => {
    // Checked before a feed is opened again, because a browser writes a 401 to its console.
    if (opened && (await house.session.look()).principal === null) return new Response(null, { status: 401 })
    const answer = await fetch(input, init)
    if (answer.ok) {
      opened = true
      tellLive({ state: "live" })
    }
    return answer
  }
  const lead = async () => {
    leads = true
    const items = connect({ url: location.origin, fetch: watched }).feed({
      after: cursor,
      signal: stop.signal,
      onReconnect: (_, wait) =>
        tellLive(navigator.onLine ? { state: "waiting", until: now() + wait } : { state: "offline" }),
    })
    try {
      for await (const item of items) {
        tell({ who: me, item })
        take(item)
      }
    } catch (cause) {
      if (cause instanceof StoaError && cause.status === 401) return signedOut()
      tellLive({ state: "offline" })
    }
  }
  // Without a secure address there are no locks: then each tab has its own feed.
  if ("locks" in navigator)
    void navigator.locks.request("stoa-feed", { signal: stop.signal }, lead).catch(() => undefined)
  else void lead()

  const woken = () => {
    if (document.visibilityState === "visible" && now() - heardAt > hour) restart()
  }
  document.addEventListener("visibilitychange", woken)
  close = () => {
    stop.abort()
    flushing?.()
    document.removeEventListener("visibilitychange", woken)
    listener = hold
    close = undefined
  }
}

/** Signing out applies to the whole browser. */
export const tellSignedOut = (): void => channel.postMessage({ who: "", over: true } satisfies TabMessage)
