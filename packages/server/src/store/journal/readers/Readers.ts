/**
 * Named readers of the journal. A reader stores its cursor in the database and holds a lease while it works, so that
 * one process at a time reads under a name. Delivery is at least once: handlers must tolerate repeats. An `atomic`
 * reader commits its writes and its cursor together.
 */
import type { Event, EventKind } from "@stoa/contract"
import { Context, DateTime, Deferred, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { batchesOf } from "../../database/sqlite/Batches.ts"
import type { Bell } from "../signals/Bell.ts"
import { freeLeases, isTakable, leaseTimes } from "../../leases/Claims.ts"
import { Holder, isGone } from "../../leases/Holder.ts"
import { monotonicMillis } from "../../Moment.ts"
import { becauseOf, newId } from "../Correlation.ts"
import { type Insert, isWhole } from "../../database/dialect/Inserts.ts"
import { Journal, type Transaction } from "../Journal.ts"
import type { BatchStatement } from "../../database/statements.ts"

/** Long enough for a slow batch, short enough that another process takes over soon after a kill -9. */
const lease = Duration.seconds(15)
const third = Duration.seconds(5)
const most = 500

export interface ReaderState {
  readonly name: string
  readonly cursor: number
  readonly failure: string | null
}

interface Waiter {
  readonly cursor: number
  readonly done: Deferred.Deferred<void>
}

/**
 * Rows that result from a batch of events: written with the cursor, all or none, outside the event loop if possible.
 */
export interface BatchRows {
  readonly statements: ReadonlyArray<BatchStatement>
  /** The same, for a transaction. */
  readonly run: Effect.Effect<unknown, SqlError.SqlError>
}
export const rowsInto = <Row extends object>(into: Insert<Row>, rows: ReadonlyArray<Row>): BatchRows => ({
  statements: [into.statement(rows)],
  run: Effect.suspend(() => into.run(rows)),
})

interface Reader<R> {
  readonly name: string
  /** How long to wait for more events before each batch. */
  readonly gather?: Duration.Input
  /** Handles one batch at a time, its writes in one transaction with the cursor; otherwise one event at a time. */
  readonly atomic: boolean
  /** The kinds it handles; others do not wake it. Default: all. */
  readonly kinds?: ReadonlyArray<EventKind>
  /**
   * Which events of these kinds it handles: others do not wake it, and it skips them without storing its cursor at
   * once.
   */
  readonly concerns?: (event: Event) => boolean
  /** Filters the events once more by the present rows, before anything is written. */
  readonly actsOn?: (events: ReadonlyArray<Event>) => Effect.Effect<ReadonlyArray<Event>, never, R>
  /** An atomic reader wraps what an event causes in `becauseOf(event, ...)`; for others that is done. */
  readonly handle: (events: ReadonlyArray<Event>) => Effect.Effect<void | BatchRows, unknown, R>
  /** An atomic reader that returns rows and writes nothing itself. */
  readonly givesRows?: true
}

export class Readers extends Context.Service<
  Readers,
  {
    /** The receipt: returns once the reader has processed everything up to the cursor (default: the journal's end). */
    readonly receipt: (name: string, cursor?: number) => Effect.Effect<void>
    readonly list: Effect.Effect<ReadonlyArray<ReaderState>>
    /** How many events wait for each reader of this process, at most 500: those of its kinds alone. */
    readonly waiting: Effect.Effect<ReadonlyMap<string, number>>
    /** Stores the cursors of all readers of this process, including what they skipped. */
    readonly writeDown: Effect.Effect<void>
    /** Runs a reader until the scope ends. */
    readonly run: <R>(reader: Reader<R>) => Effect.Effect<never, never, Exclude<R, Transaction>>
  }
>()("server/store/journal/Readers") {
  static readonly layer = Layer.effect(
    Readers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      // A process that only inspects has no holder, and reads nothing under a name.
      const holder = yield* Effect.serviceOption(Holder)
      const me = Option.match(holder, { onNone: () => newId("rdr"), onSome: ({ id }) => id })
      const gone = (column: string) => (Option.isNone(holder) ? sql`1 = 0` : isGone(sql, column))
      yield* Effect.orDie(freeLeases(sql, "readers"))
      const running = new Map<string, Pick<Reader<never>, "concerns" | "kinds">>()
      const passed = new Map<string, number>()
      const waiters = new Map<string, Set<Waiter>>()
      const bells = new Map<string, Bell>()
      // Readers that are waiting for more events: a receipt ends that wait.
      const gathering = new Map<string, () => void>()
      // How far each has come in this process: skipped events are not stored at once.
      const reached = new Map<string, number>()

      const moved = (name: string, cursor: number) =>
        Effect.sync(() => {
          reached.set(name, cursor)
          for (const one of waiters.get(name) ?? [])
            if (one.cursor <= cursor) Deferred.doneUnsafe(one.done, Effect.void)
        })

      const stored = (name: string) =>
        Effect.map(
          sql<{ cursor: number }>`SELECT cursor FROM readers WHERE name = ${name}`,
          (rows) => rows[0]?.cursor ?? 0,
        )

      const receipt = Effect.fn("Readers.receipt")(function* (name: string, wanted?: number) {
        const cursor = wanted ?? (yield* journal.committed)
        if ((reached.get(name) ?? 0) >= cursor) return
        const waiter: Waiter = { cursor, done: Deferred.makeUnsafe<void>() }
        const all = waiters.get(name) ?? new Set()
        waiters.set(name, all.add(waiter))
        bells.get(name)?.ring()
        gathering.get(name)?.()
        // Also polls the row: another process may be the reader.
        const asked = Effect.gen(function* () {
          for (let pause = 25; (yield* stored(name)) < cursor; pause = Math.min(pause * 2, 1000))
            yield* Effect.sleep(pause)
        })
        yield* Effect.raceFirst(Deferred.await(waiter.done), Effect.orDie(asked)).pipe(
          Effect.ensuring(Effect.sync(() => all.delete(waiter))),
        )
      })

      const times = Effect.map(DateTime.now, (now) => leaseTimes(now, lease))

      /** Takes the lease and returns the cursor, or nothing while another process holds the lease. */
      const claim = Effect.fnUntraced(function* (name: string) {
        const { far, now, until } = yield* times
        const rows = yield* sql<{
          cursor: number
        }>`INSERT INTO readers (name, cursor, lease_owner, lease_until, moved_at)
          VALUES (${name}, 0, ${me}, ${until}, ${now})
          ON CONFLICT (name) DO UPDATE SET lease_owner = ${me}, lease_until = ${until}
          WHERE ${isTakable(sql, "readers", me, { far, now }, gone)}
          RETURNING cursor`
        return rows[0]?.cursor
      })

      /** Moves the cursor and renews the lease. Fails if the lease was lost meanwhile. */
      const move = Effect.fnUntraced(function* (name: string, cursor: number) {
        const { now, until } = yield* times
        const rows = yield* sql`UPDATE readers SET cursor = ${cursor}, failure = NULL, moved_at = ${now},
          lease_until = ${until} WHERE name = ${name} AND lease_owner = ${me} RETURNING name`
        if (rows.length === 0) return yield* Effect.die(new Error(`reader ${name} lost its lease`))
      })

      const note = (name: string, failure: string) =>
        Effect.ignore(sql`UPDATE readers SET failure = ${failure.slice(0, 2000)} WHERE name = ${name}`)

      /** If another process holds the lease, that one stores its cursor. Never moves backwards. */
      const writeOne = Effect.fnUntraced(function* (name: string, cursor: number) {
        const stood = yield* claim(name)
        if (stood !== undefined && stood < cursor) yield* move(name, cursor)
      })

      const writeDown = Effect.suspend(() =>
        Effect.forEach([...passed], ([name, cursor]) => writeOne(name, cursor), { discard: true }),
      ).pipe(Effect.orDie)

      const batches = batchesOf(sql)
      const moveInBatch = `UPDATE readers SET cursor = value->>1, failure = NULL, moved_at = value->>2,
        lease_until = value->>3 FROM json_each(?) WHERE name = value->>0 AND lease_owner = value->>4 RETURNING name`
      const writeRows = Effect.fnUntraced(function* ({ run, statements }: BatchRows, name: string, cursor: number) {
        // A quiet house does not need the thread.
        if (batches?.standing !== true || !statements.every(({ rows }) => isWhole(rows)))
          return yield* journal.transact(Effect.andThen(run, move(name, cursor)))
        const { now, until } = yield* times
        const moved = JSON.stringify([[name, cursor, now, until, me]])
        // If a power failure loses the rows, it loses the cursor with them, and the events are read again.
        yield* batches.write([...statements, { sql: moveInBatch, rows: moved, expects: 1 }], Infinity, false)
      })

      const loop = <R>({ actsOn, atomic, concerns, gather, givesRows, handle, kinds, name }: Reader<R>) => {
        let cursor: number | undefined
        let noted = -Infinity
        let heldUntil = 0
        let limit = most
        // Events that do not concern it do not wake it.
        const bell = kinds === undefined ? journal.bell : journal.bellOf(kinds, concerns)
        bells.set(name, bell)

        const whole = (events: ReadonlyArray<Event>, last: number) =>
          givesRows === true
            ? Effect.flatMap(handle(events), (rows) => writeRows(rows as BatchRows, name, last))
            : journal.transact(Effect.andThen(handle(events), move(name, last)))

        // Keeps the lease during slow handlers, and keeps finished work if a later event fails.
        const oneByOne = (events: ReadonlyArray<Event>, from: number) =>
          Effect.suspend(() => {
            let done = from
            const each = Effect.forEach(
              events,
              (event) =>
                Effect.tap(becauseOf(event, handle([event])), () => Effect.sync(() => void (done = event.cursor))),
              { discard: true },
            )
            const beat = Effect.forever(
              Effect.andThen(
                Effect.sleep(third),
                Effect.suspend(() => move(name, done)),
              ),
            )
            return Effect.raceFirst(each, beat).pipe(
              Effect.onExit(() => (done > from ? move(name, done) : Effect.void)),
            )
          })

        /** True if the lease is ours and not about to end. A quiet reader does not claim it and writes nothing. */
        const hold = Effect.gen(function* () {
          const now = yield* monotonicMillis
          if (now < heldUntil) return true
          const claimed = yield* claim(name)
          heldUntil = claimed === undefined ? 0 : now + Duration.toMillis(third)
          const before = cursor
          cursor = claimed ?? (yield* stored(name))
          yield* moved(name, cursor)
          return claimed !== undefined && before === cursor
        })

        /**
         * Waits for more events: right now, the callers that wrote the first ones need the CPU more than this reader.
         */
        const rest = Effect.suspend(() => {
          if (gather === undefined || (waiters.get(name)?.size ?? 0) > 0) return Effect.void
          const hurry = Deferred.makeUnsafe<void>()
          gathering.set(name, () => void Deferred.doneUnsafe(hurry, Effect.void))
          return Effect.raceFirst(Deferred.await(hurry), Effect.sleep(gather))
        })

        /** Skips to this cursor. Stored only from time to time, because reading past it again is cheap. */
        const passOver = Effect.fnUntraced(function* (end: number) {
          if (cursor === undefined || end <= cursor) return
          const now = yield* monotonicMillis
          if (now - noted > Duration.toMillis(third)) {
            noted = now
            yield* writeOne(name, end)
          }
          cursor = end
          passed.set(name, end)
          yield* moved(name, end)
        })

        const pass = Effect.gen(function* () {
          const heard = bell.rung
          if (cursor === undefined) yield* hold
          const from = cursor!
          // Read before the events: events that are appended in between are not skipped. If somebody waits for a
          // receipt, they may have written in another process, which this one does not know of yet.
          const view = (waiters.get(name)?.size ?? 0) > 0 ? journal : journal.known
          const end = kinds === undefined ? from : yield* view.end
          const events = yield* view.read({ after: from, limit, ...(kinds === undefined ? {} : { kinds }) })
          const last = events.at(-1)?.cursor
          if (last === undefined) {
            yield* passOver(end)
            yield* bell.waitPast(heard)
            yield* rest
            return yield* passOver(bell.quietAfter(heard))
          }
          if (concerns !== undefined && !events.some(concerns)) return yield* passOver(last)
          if (!(yield* hold)) {
            // Another process has moved the cursor, or is about to.
            if (heldUntil === 0 && cursor === from) yield* Effect.sleep("1 second")
            return
          }
          const some = actsOn === undefined ? events : yield* actsOn(events)
          if (some.length === 0) {
            limit = Math.min(limit * 2, most)
            return yield* passOver(last)
          }
          yield* atomic ? whole(some, last) : oneByOne(some, from)
          cursor = last
          heldUntil = (yield* monotonicMillis) + Duration.toMillis(third)
          limit = Math.min(limit * 2, most)
          yield* moved(name, last)
          // A reader that is behind does not wait.
          if (events.length < limit) yield* rest
        })
        return pass.pipe(
          Effect.tapCause((cause) =>
            Effect.andThen(
              Effect.logError(`Reader ${name} failed and will try again`, cause),
              Effect.suspend(() => {
                cursor = undefined
                heldUntil = 0
                // One at a time, so that everything before the failing event is processed.
                limit = 1
                return note(name, String(cause))
              }),
            ),
          ),
          Effect.sandbox,
          // Never skips: an event that cannot be handled stops its reader, and the doctor reports it.
          Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("10 seconds")])),
          Effect.orDie,
          Effect.forever,
        )
      }

      const run: Readers["Service"]["run"] = (reader) =>
        Effect.suspend(() => {
          if (running.has(reader.name)) return Effect.die(new Error(`two readers are named ${reader.name}`))
          running.set(reader.name, reader)
          return Effect.ensuring(
            loop(reader),
            Effect.sync(() => running.delete(reader.name)),
          )
        }) as Effect.Effect<never, never, never>

      const list = sql<ReaderState>`SELECT name, cursor, failure FROM readers ORDER BY name`.pipe(Effect.orDie)

      const waiting = Effect.gen(function* () {
        const found = new Map<string, number>()
        for (const { cursor, name } of yield* list) {
          const reader = running.get(name)
          if (reader === undefined) continue
          const { concerns, kinds } = reader
          const after = Math.max(cursor, reached.get(name) ?? 0)
          const events = yield* journal.read({ after, limit: most, ...(kinds === undefined ? {} : { kinds }) })
          found.set(name, concerns === undefined ? events.length : events.filter(concerns).length)
        }
        return found
      })

      yield* Effect.addFinalizer(() =>
        Effect.ignore(sql`UPDATE readers SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ${me}`),
      )
      return Readers.of({ receipt, list, waiting, run, writeDown })
    }),
  )
}

/** A reader as a layer: it runs until the house closes. */
export const readerLayer = <R>(reader: Reader<R>): Layer.Layer<never, never, Readers | Exclude<R, Transaction>> =>
  Layer.effectDiscard(Effect.flatMap(Readers, (readers) => Effect.forkScoped(readers.run(reader))))
