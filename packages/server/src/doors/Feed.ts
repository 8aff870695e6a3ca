/**
 * The feed: one reader of the journal's end for all subscribers of this process. Each event is read once, framed once
 * per face, and written to those who may see it; frames that come close together leave in one write.
 *
 * A subscriber that resumes first catches up from the journal on its own, and joins the others exactly at its cursor:
 * no gap, no repeat.
 */
// edge: subscribers are node responses; nothing here must outlive the process.
import type { ServerResponse } from "node:http"
import type { Caller, Delta, Event, FaceName, PrincipalId, TooManyRequests } from "@stoa/contract"
import { Clock, Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { Deltas } from "../store/journal/signals/Deltas.ts"
import { Journal } from "../store/journal/Journal.ts"
import { changesRights } from "../access/rights/Concerned.ts"
import { Grants } from "../access/rights/Grants.ts"
import {
  emptySight,
  isStale,
  maySee,
  maySeeDelta,
  mayWatch,
  narrowSight,
  type WatchScope,
  widenSight,
} from "../spaces/Sight.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { makeWatching, type Watch } from "../spaces/Watching.ts"
import { Endings } from "../access/identity/Endings.ts"
import { NodeServer } from "./node/NodeServer.ts"
import type { Takeover } from "./node/Response.ts"
import { closeFrame, deltaFrame, eventFrame, heartbeat, openFrame, reloadFrame } from "./feed/frames.ts"
import { makePast, pastPage, maxWait } from "./feed/past.ts"

/** Well within the 30 s of S0-70, so that even a late timer is in time. */
const heartbeatEvery = Duration.seconds(20)
/** A client with this much unsent data must reload: one slow client must not fill the memory of the house. */
const maxUnsent = 1024 * 1024
/** With many subscribers, the number of writes is the cost; a short delay turns many events into one write. */
const gathering = (subscribers: number) =>
  subscribers > 50 ? Duration.millis(Math.min(50, Math.ceil(subscribers / 20))) : Duration.zero

/** How long a client may take to read the end of a closed stream, in milliseconds. */
const lastWords = 10_000
const gone = "this token no longer works"
const changed = "your rights have changed; connect again"

export interface Subscription {
  readonly caller: Caller["Service"]
  readonly face: FaceName | undefined
  /** Only this space, by id. */
  readonly space: string | undefined
  /** The cursor to continue after; by default the end of the journal. */
  readonly after: number | undefined
}

/** `still` is asked with every heartbeat. */
interface Subscriber extends Subscription, Watch {
  readonly response: ServerResponse
  readonly principal: PrincipalId
  readonly expiresAt: number | null
  /** What the caller may see, as last loaded. Nothing is shown before the first load. */
  sight: WatchScope
  cursor: number
}

export class Feed extends Context.Service<
  Feed,
  {
    /**
     * If the caller may follow events now: what writes the feed to its response, once the head has been sent, until either
     * side closes it.
     */
    readonly subscribe: (subscription: Subscription) => Effect.Effect<Takeover, TooManyRequests>
    readonly subscribers: () => number
    /** The principals that listen, each counted once however many streams it has. */
    readonly listening: () => { readonly people: number; readonly agents: number; readonly services: number }
  }
>()("server/doors/Feed") {
  static readonly layer = Layer.effect(
    Feed,
    Effect.gen(function* () {
      const journal = yield* Journal
      const server = yield* NodeServer
      const clock = yield* Clock.Clock
      const spaces = yield* Spaces
      const grants = yield* Grants
      const endings = yield* Endings
      const begin = yield* makeWatching
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const live = new Set<Subscriber>()
      const open = new Set<Subscriber>()
      const past = makePast()

      const leave = (one: Subscriber) => {
        live.delete(one)
        open.delete(one)
      }
      const end = (one: Subscriber, last: string) => {
        leave(one)
        one.response.end(last)
        // A client that does not read its last frame must not keep its socket.
        one.response.socket?.setTimeout(lastWords, () => one.response.destroy())
      }
      const close = (one: Subscriber, reason: string) => end(one, closeFrame(reason))
      const write = (one: Subscriber, text: string) => {
        if (one.response.destroyed) return leave(one)
        // wall clock: tokens end at a moment.
        if (one.expiresAt !== null && one.expiresAt <= clock.currentTimeMillisUnsafe()) return close(one, gone)
        if (one.response.writableLength > maxUnsent) {
          // The queued frames are useless; the client continues from the present end.
          return end(one, reloadFrame(following.cursor(), "you read too slowly; reload"))
        }
        one.response.write(text)
      }

      /** When rights end, the stream ends before anything later is shown. */
      const obey = (event: Event) => {
        if (event.kind !== "token.revoked" && event.kind !== "principal.retired") return
        for (const one of open)
          if (
            event.kind === "token.revoked"
              ? event.body.token === one.caller.token
              : event.body.principal === one.principal
          )
            close(one, gone)
      }

      /** What a caller may see now. */
      const sightOf = ({ context, principal }: Caller["Service"]) =>
        Effect.flatMap(grants.viewerNow(principal.id, context, "spaces"), spaces.watchScope)

      /** Loads once per principal and context, however many streams it has. */
      const renew = Effect.fnUntraced(function* (some: ReadonlyArray<Subscriber>) {
        const asked = new Map<string, WatchScope | undefined>()
        for (const one of some) {
          const key = `${one.principal} ${one.caller.context}`
          if (!asked.has(key)) asked.set(key, yield* Effect.orElseSucceed(sightOf(one.caller), () => undefined))
          const now = asked.get(key)
          if (now === undefined) close(one, gone)
          else one.sight = { ...now, spaces: new Set(now.spaces) }
        }
      })

      /** A stream of one space carries only that space. */
      const belongs = (one: Subscriber, what: { readonly space: string | null }): boolean =>
        one.space === undefined || what.space === one.space

      const seesItsSpace = ({ sight, space }: Subscriber): boolean => space === undefined || mayWatch(sight, space)

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
        // Subscribers who see the same frames get the same string, joined once.
        const joined = new Map<string, string>()
        for (const one of live) {
          const seen = events.filter((event) => {
            if (event.cursor <= one.cursor) return false
            widenSight(one.sight, event)
            const shown = belongs(one, event) && maySee(one.sight, event)
            narrowSight(one.sight, event)
            return shown
          })
          // Never backwards: a client that comes from another process may be ahead of this one.
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
      }

      const hear = Effect.fnUntraced(function* (events: ReadonlyArray<Event>) {
        for (const event of events) obey(event)
        // A subscriber that joins during this load has read up to this point by itself.
        yield* renew([...live].filter((one) => isStale(one.sight, events)))
        deliver(events)
        // Principals whose rights changed are checked again, and stay connected if they may still see the stream.
        const touched = [...open].filter((one) => events.some((event) => changesRights(event, one.principal)))
        yield* Effect.forEach(touched, (one) =>
          Effect.map(one.still, (still) => (still && seesItsSpace(one) ? undefined : close(one, changed))),
        )
        const pause = gathering(live.size)
        if (!Duration.isZero(pause)) yield* Effect.sleep(pause)
      })
      const following = yield* journal.follow({ name: "sending the feed", wanted: () => open.size > 0, hear })

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
        // Past the end: the house was restored from a backup, and its journal does not contain that cursor.
        const beyond = one.cursor > following.cursor() && one.cursor > (yield* journal.end)
        if (one.cursor < floor || beyond) {
          const why = beyond
            ? "this cursor is not in this journal"
            : "the events after this cursor are no longer stored"
          one.cursor = following.cursor()
          one.response.write(reloadFrame(one.cursor, why))
        }
        // What the reader may see is loaded after each page of the past is read, never before: events that it may no
        // longer see, or missed while it was excluded, are not shown.
        yield* renew([one])
        // Comparing and joining are synchronous: the live reader cannot move in between.
        while (open.has(one) && one.cursor < following.cursor()) {
          yield* past.run(
            one.principal,
            Effect.gen(function* () {
              const upTo = following.cursor()
              const events = yield* journal.read({ after: one.cursor, limit: pastPage })
              yield* renew([one])
              const seen = events.filter((event) => belongs(one, event) && maySee(one.sight, event))
              if (seen.length > 0 && open.has(one))
                write(one, seen.map((event) => eventFrame(event, one.face)).join(""))
              one.cursor = events.at(-1)?.cursor ?? upTo
            }),
          )
          // For a client that does not read what it was sent, only its cursor is kept.
          const read = yield* Effect.timeoutOption(drained(one.response), maxWait)
          if (Option.isNone(read)) close(one, "you did not read what you were sent; connect again")
        }
        if (open.has(one)) live.add(one)
      })

      /** Shown to those who may see it now. */
      const show = (delta: Delta) => {
        const tell = (one: Subscriber) => {
          if (maySeeDelta(one.sight, delta)) write(one, deltaFrame(delta, one.face))
        }
        const all = [...live].filter((one) => belongs(one, delta))
        const lasting = all.filter((one) => one.sight.viewer.lasting)
        for (const one of lasting) tell(one)
        const others = all.filter((one) => !one.sight.viewer.lasting)
        if (others.length > 0)
          run(
            Effect.andThen(
              renew(others),
              Effect.sync(() => others.forEach(tell)),
            ),
          )
      }
      yield* (yield* Deltas).listen(show)

      const send = Effect.fn("Feed.send")(function* (response: ServerResponse, subscription: Subscription & Watch) {
        const { caller } = subscription
        const one: Subscriber = {
          ...subscription,
          response,
          principal: caller.principal.id,
          expiresAt: caller.expiresAt === null ? null : DateTime.toEpochMillis(caller.expiresAt),
          sight: emptySight(caller),
          cursor: subscription.after ?? 0,
        }
        // "From now on" means from the end of the journal: the live reader may be a step behind it.
        const end = yield* following.begin(() => void open.add(one))
        if (subscription.after === undefined) one.cursor = end
        const forget = endings.watch(caller, () => close(one, gone))
        response.on("close", () => {
          forget()
          leave(one)
        })
        response.write(openFrame(one.cursor))
        yield* catchUp(one)
      })

      return Feed.of({
        subscribers: () => open.size,
        listening: () => {
          const kinds = [
            ...new Map([...open].map(({ caller, principal }) => [principal, caller.principal.kind])).values(),
          ]
          const of = (kind: string) => kinds.filter((one) => one === kind).length
          return { people: of("person"), agents: of("agent"), services: of("service") }
        },
        subscribe: Effect.fn("Feed.subscribe")(function* (subscription) {
          const { id } = subscription.caller.principal
          const own = [...open].filter((one) => one.principal === id).length
          const watch = yield* begin(subscription.caller, own)
          const context = yield* Effect.context<never>()
          return (response) => void Effect.runForkWith(context)(send(response, { ...subscription, ...watch }))
        }),
      })
    }),
  )
}
