/**
 * The feed: one reader of the journal's end for all subscribers of this process. Each event is read once, framed once a
 * face, and written to those who may see it; frames that come close together leave in one write.
 *
 * A subscriber that resumes first catches up from the journal on its own, and joins the others at the very cursor where
 * it stands: no gap, no repeat.
 */
// edge: subscribers are node responses; nothing here must outlive the process.
import type { ServerResponse } from "node:http"
import type { Delta, Event, FaceName, TokenId } from "@stoa/contract"
import { Clock, Context, Duration, Effect, Layer, Semaphore } from "effect"
import { Deltas } from "../store/journal/Deltas.ts"
import { Journal } from "../store/journal/Journal.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { NodeServer } from "./NodeServer.ts"
import { closeFrame, deltaFrame, eventFrame, heartbeat, openFrame, reloadFrame } from "./feed/frames.ts"
import { changesRights, enter, leaveBy, maySee, mayWatch, type Viewer } from "./feed/visible.ts"

/** Well within the 30 s of S0-70, so that a late timer still is in time. */
const heartbeatEvery = Duration.seconds(20)
/** A reader that lets this much pile up is told to reload: one slow client must not cost the house its memory. */
const mostUnsent = 1024 * 1024
const page = 500
/** With many subscribers a write each is the cost; a short gathering makes one write of many events. */
const gathering = (subscribers: number) =>
  subscribers > 50 ? Duration.millis(Math.min(50, Math.ceil(subscribers / 20))) : Duration.zero

/** How long a closed stream may take to be read to its end, in milliseconds. */
const lastWords = 10_000
const gone = "this token no longer works"
const changed = "your rights have changed; connect again"

/** One turn of the event loop: sockets are read and other fibers run. */
const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

export interface Subscription {
  readonly viewer: Viewer
  readonly token: TokenId | null
  readonly face: FaceName | undefined
  /** Only this space, by id. */
  readonly space: string | undefined
  /** Where to go on; the end of the journal, if not given. */
  readonly after: number | undefined
  /** When the token ends: no frame is written after it. */
  readonly expiresAt: number | null
  /** Whether token and rights still are as they were when the stream began. Asked with every heartbeat. */
  readonly still: Effect.Effect<boolean>
}

interface Subscriber extends Subscription {
  readonly response: ServerResponse
  cursor: number
}

export class Feed extends Context.Service<
  Feed,
  {
    /** Writes the feed to a response whose head has been sent, until either side closes it. */
    readonly subscribe: (response: ServerResponse, subscription: Subscription) => Effect.Effect<void>
    readonly subscribers: () => number
    /** How many streams a principal has open. */
    readonly streamsOf: (principal: string) => number
  }
>()("server/doors/Feed") {
  static readonly layer = Layer.effect(
    Feed,
    Effect.gen(function* () {
      const journal = yield* Journal
      const server = yield* NodeServer
      const clock = yield* Clock.Clock
      const spaces = yield* Spaces
      const live = new Set<Subscriber>()
      const open = new Set<Subscriber>()
      const doubtful = new Set<Subscriber>()
      // Reading the past costs; a few at a time, and others get their turn between two pages.
      const past = yield* Semaphore.make(4)
      let cursor = yield* journal.end

      const leave = (one: Subscriber) => {
        live.delete(one)
        open.delete(one)
      }
      const end = (one: Subscriber, last: string) => {
        leave(one)
        one.response.end(last)
        // Who does not read its last frame does not keep its socket either.
        one.response.socket?.setTimeout(lastWords, () => one.response.destroy())
      }
      const close = (one: Subscriber, reason: string) => end(one, closeFrame(reason))
      const write = (one: Subscriber, text: string) => {
        if (one.response.destroyed) return leave(one)
        if (one.expiresAt !== null && one.expiresAt <= clock.currentTimeMillisUnsafe()) return close(one, gone)
        if (one.response.writableLength > mostUnsent) {
          // What is queued is of no use any more; the place to go on is the end as it is now.
          return end(one, reloadFrame(cursor, "you read more slowly than things happened"))
        }
        one.response.write(text)
      }

      /** Rights that ended end the stream: a revoked token must not go on reading. */
      const obey = (event: Event) => {
        for (const one of open)
          if (
            (event.kind === "token.revoked" && event.body.token === one.token) ||
            (event.kind === "principal.retired" && event.body.principal === one.viewer.principal)
          )
            close(one, gone)
          else if (changesRights(event, one.viewer)) doubtful.add(one)
      }

      const refresh = Effect.fnUntraced(function* (viewer: Viewer) {
        if (viewer.all) return
        const now = yield* spaces.visibleTo(viewer.principal)
        viewer.spaces.clear()
        for (const space of now) viewer.spaces.add(space)
      })

      /** A stream of one space carries that space alone. */
      const belongs = (one: Subscriber, what: { readonly space: string | null }): boolean =>
        one.space === undefined || what.space === one.space

      const frames = (events: ReadonlyArray<Event>) => {
        const made = new Map<string, string>()
        return (event: Event, face: FaceName | undefined) => {
          const key = `${event.cursor} ${face ?? ""}`
          const known = made.get(key)
          if (known !== undefined) return known
          const text = eventFrame(event, face)
          if (events.length > 0) made.set(key, text)
          return text
        }
      }

      const deliver = (events: ReadonlyArray<Event>) => {
        const frame = frames(events)
        // Subscribers who see the same get the same string: the joining is done once.
        const joined = new Map<string, string>()
        for (const one of live) {
          const seen = events.filter((event) => {
            if (event.cursor <= one.cursor) return false
            enter(one.viewer, event)
            const shown = belongs(one, event) && maySee(one.viewer, event)
            leaveBy(one.viewer, event)
            return shown
          })
          // Never back: a reader that comes from another process may stand ahead of this one.
          one.cursor = Math.max(one.cursor, events.at(-1)!.cursor)
          if (seen.length === 0) continue
          const key = `${one.face ?? ""} ${seen.length === events.length ? "all" : seen.map((event) => event.cursor).join()}`
          let text = joined.get(key)
          if (text === undefined) {
            text = seen.map((event) => frame(event, one.face)).join("")
            joined.set(key, text)
          }
          write(one, text)
        }
        for (const event of events) obey(event)
      }

      yield* Effect.gen(function* () {
        const heard = journal.bell.rung
        // With nobody there nothing is read: whoever comes first brings the cursor to the end.
        const events = open.size === 0 ? [] : yield* journal.read({ after: cursor, limit: page })
        if (events.length === 0) return yield* journal.bell.waitPast(heard)
        cursor = events.at(-1)!.cursor
        deliver(events)
        // Whose rights were touched is judged again, and goes on if it may still see what it saw.
        const asked = [...doubtful]
        doubtful.clear()
        yield* Effect.forEach(asked, (one) =>
          Effect.map(one.still, (still) => (still ? undefined : close(one, changed))),
        )
        const pause = gathering(live.size)
        if (!Duration.isZero(pause)) yield* Effect.sleep(pause)
      }).pipe(
        Effect.tapCause((cause) => Effect.logError("The feed failed and goes on", cause)),
        Effect.catchCause(() => Effect.sleep("1 second")),
        Effect.forever,
        Effect.forkScoped,
      )

      const beat = Effect.suspend(() =>
        Effect.forEach(
          [...open],
          (one) => Effect.map(one.still, (still) => (still ? write(one, heartbeat) : close(one, changed))),
          { discard: true },
        ),
      )
      yield* beat.pipe(Effect.delay(heartbeatEvery), Effect.forever, Effect.forkScoped)

      const goodbye = Effect.sync(() => {
        for (const one of open) close(one, "the house is closing; connect again shortly")
      })
      server.beforeClose(goodbye)

      const drained = (response: ServerResponse) =>
        Effect.callback<void>((resume) => {
          if (response.destroyed || !response.writableNeedDrain) return resume(Effect.void)
          const done = () => {
            response.off("drain", done)
            response.off("close", done)
            resume(Effect.void)
          }
          response.once("drain", done)
          response.once("close", done)
        })

      const catchUp = Effect.fnUntraced(function* (one: Subscriber) {
        const floor = yield* journal.floor
        // Past the end: the house was restored from a backup, and that place is not in its journal.
        const beyond = one.cursor > cursor && one.cursor > (yield* journal.end)
        if (one.cursor < floor || beyond) {
          const why = beyond ? "that place is not in this journal" : "that place in the past is no longer kept"
          one.response.write(reloadFrame(cursor, why))
          one.cursor = cursor
        }
        // Joining is synchronous with the comparison: the live reader cannot move in between.
        // Which spaces are open to the reader is asked after each page of the past was read, never before: what it may not
        // see any more, and what it was shut out from in between, is not shown.
        yield* refresh(one.viewer)
        while (open.has(one) && one.cursor < cursor) {
          const events = yield* journal.read({ after: one.cursor, limit: page })
          yield* refresh(one.viewer)
          const seen = events.filter((event) => belongs(one, event) && maySee(one.viewer, event))
          if (seen.length > 0) write(one, seen.map((event) => eventFrame(event, one.face)).join(""))
          one.cursor = events.at(-1)?.cursor ?? cursor
          yield* drained(one.response)
          yield* turn
        }
        if (open.has(one)) live.add(one)
      })

      /** Shown to those who may see it now. */
      const show = (delta: Delta) => {
        for (const one of live)
          if (belongs(one, delta) && mayWatch(one.viewer, delta.space)) write(one, deltaFrame(delta, one.face))
      }
      yield* (yield* Deltas).listen(show)

      return Feed.of({
        subscribers: () => open.size,
        streamsOf: (principal) => [...open].filter((one) => one.viewer.principal === principal).length,
        subscribe: Effect.fn("Feed.subscribe")(function* (response, subscription) {
          // From now on means from the end of the journal: the live reader may be a step behind it.
          const end = yield* journal.end
          const from = subscription.after ?? end
          if (open.size === 0) cursor = Math.max(cursor, end)
          const one: Subscriber = { ...subscription, response, cursor: from }
          open.add(one)
          response.on("close", () => leave(one))
          response.write(openFrame(one.cursor))
          yield* past.withPermit(catchUp(one))
        }),
      })
    }),
  )
}
