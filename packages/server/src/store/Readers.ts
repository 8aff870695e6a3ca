/**
 * Named readers of the journal. A reader keeps its cursor in the database and holds a lease while it works, so that one
 * process at a time reads under a name. Delivery is at least once: what a reader does must bear a repeat, unless it is
 * `atomic`, when its writes and its cursor commit together.
 */
import type { Event } from "@stoa/contract"
import { Context, DateTime, Deferred, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { causedBy, newId } from "./Correlation.ts"
import { Journal, type Transaction } from "./Journal.ts"
import { Notices } from "./Notices.ts"

/** Long enough for a slow batch, short enough that another process takes over soon after a kill -9. */
const lease = Duration.seconds(15)
const batch = 200

export interface ReaderState {
  readonly name: string
  readonly cursor: number
  readonly failure: string | null
}

interface Waiter {
  readonly cursor: number
  readonly done: Deferred.Deferred<void>
}

export class Readers extends Context.Service<
  Readers,
  {
    /** The receipt: returns once the reader has dealt with everything up to the cursor (the journal's end, if none is given). */
    readonly receipt: (name: string, cursor?: number) => Effect.Effect<void>
    readonly list: Effect.Effect<ReadonlyArray<ReaderState>>
    /** Runs a reader for as long as the scope lives. */
    readonly run: <R>(options: {
      readonly name: string
      readonly atomic: boolean
      readonly handle: (events: ReadonlyArray<Event>) => Effect.Effect<void, unknown, R>
    }) => Effect.Effect<never, never, Exclude<R, Transaction>>
  }
>()("server/store/Readers") {
  static readonly layer = Layer.effect(
    Readers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const notices = yield* Notices
      const me = newId("rdr")
      const waiters = new Map<string, Array<Waiter>>()

      const moved = (name: string, cursor: number) =>
        Effect.sync(() => {
          const all = waiters.get(name) ?? []
          waiters.set(
            name,
            all.filter((one) => one.cursor > cursor),
          )
          for (const one of all) if (one.cursor <= cursor) Deferred.doneUnsafe(one.done, Effect.void)
        })

      const stored = (name: string) =>
        Effect.map(sql<{ cursor: number }>`SELECT cursor FROM readers WHERE name = ${name}`, (rows) => rows[0]?.cursor ?? 0)

      const receipt = Effect.fn("Readers.receipt")(function* (name: string, wanted?: number) {
        const cursor = wanted ?? (yield* journal.end)
        const done = Deferred.makeUnsafe<void>()
        const all = waiters.get(name) ?? []
        waiters.set(name, [...all, { cursor, done }])
        // Registered before looking: a move between the two is not missed.
        if ((yield* Effect.orDie(stored(name))) >= cursor) return
        yield* Deferred.await(done)
      })

      /** Takes or renews the lease; says where to go on, or nothing while another process holds it. */
      const claim = Effect.fnUntraced(function* (name: string) {
        const now = yield* DateTime.now
        const until = DateTime.formatIso(DateTime.addDuration(now, lease))
        const rows = yield* sql<{ cursor: number }>`INSERT INTO readers (name, cursor, lease_owner, lease_until, moved_at)
          VALUES (${name}, 0, ${me}, ${until}, ${DateTime.formatIso(now)})
          ON CONFLICT (name) DO UPDATE SET lease_owner = ${me}, lease_until = ${until}
          WHERE readers.lease_owner = ${me} OR readers.lease_owner IS NULL OR readers.lease_until < ${DateTime.formatIso(now)}
          RETURNING cursor`
        return rows[0]?.cursor
      })

      /** Only the holder of the lease may move the cursor: a process that slept through its lease changes nothing. */
      const move = Effect.fnUntraced(function* (name: string, cursor: number) {
        const rows = yield* sql`UPDATE readers SET cursor = ${cursor}, failure = NULL,
          moved_at = ${DateTime.formatIso(yield* DateTime.now)} WHERE name = ${name} AND lease_owner = ${me} RETURNING name`
        if (rows.length === 0) return yield* Effect.die(new Error(`reader ${name} lost its lease`))
      })

      const note = (name: string, failure: string) =>
        Effect.ignore(sql`UPDATE readers SET failure = ${failure.slice(0, 2000)} WHERE name = ${name}`)

      const run: Readers["Service"]["run"] = ({ atomic, handle, name }) => {
        const each = (events: ReadonlyArray<Event>) =>
          atomic
            ? handle(events)
            : Effect.forEach(
                events,
                (event) =>
                  causedBy(
                    { correlationId: event.correlationId, actor: event.actor, provenance: event.provenance },
                    handle([event]),
                  ),
                { discard: true },
              )
        const pass = Effect.gen(function* () {
          const heard = journal.bell.rung
          const cursor = yield* claim(name)
          const events = cursor === undefined ? [] : yield* journal.read({ after: cursor, limit: batch })
          const last = events.at(-1)?.cursor
          if (last === undefined) {
            if (cursor !== undefined) yield* moved(name, cursor)
            // Half a lease at most, so that a quiet reader keeps its name.
            const patience = Duration.min(notices.patience, cursor === undefined ? Duration.seconds(2) : Duration.millis(Duration.toMillis(lease) / 2))
            return yield* Effect.race(journal.bell.waitPast(heard), Effect.sleep(patience))
          }
          if (atomic) yield* journal.transact(Effect.andThen(each(events), move(name, last)))
          else {
            yield* each(events)
            yield* move(name, last)
          }
          yield* moved(name, last)
        })
        return pass.pipe(
          Effect.tapCause((cause) =>
            Effect.andThen(Effect.logError(`Reader ${name} failed and will try again`, cause), note(name, String(cause))),
          ),
          Effect.sandbox,
          // It never skips: an event that cannot be handled stops its reader, and the doctor says so.
          Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("10 seconds")])),
          Effect.orDie,
          Effect.forever,
        ) as Effect.Effect<never, never, never>
      }

      const list = sql<ReaderState>`SELECT name, cursor, failure FROM readers ORDER BY name`.pipe(Effect.orDie)

      yield* Effect.addFinalizer(() =>
        Effect.ignore(sql`UPDATE readers SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ${me}`),
      )
      return Readers.of({ receipt, list, run })
    }),
  )
}

/** A reader as a layer: it runs while the house stands. */
export const readerLayer = <R>(options: {
  readonly name: string
  readonly atomic: boolean
  readonly handle: (events: ReadonlyArray<Event>) => Effect.Effect<void, unknown, R>
}): Layer.Layer<never, never, Readers | Exclude<R, Transaction>> =>
  Layer.effectDiscard(
    Effect.flatMap(Readers, (readers) => Effect.forkScoped(readers.run(options))),
  ) as never
