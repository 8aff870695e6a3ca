/**
 * Named readers of the journal. A reader keeps its cursor in the database and holds a lease while it works, so that one
 * process at a time reads under a name. Delivery is at least once: what a reader does must bear a repeat, unless it is
 * `atomic`, when its writes and its cursor commit together.
 */
import type { Event, EventKind } from "@stoa/contract"
import { Context, DateTime, Deferred, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { batchesOf } from "../database/Batches.ts"
import type { Bell } from "./Bell.ts"
import { freeLeases, leaseSkew } from "../Claims.ts"
import { Holder, isGone } from "../Holder.ts"
import { monotonicMillis } from "../Moment.ts"
import { becauseOf, newId } from "./Correlation.ts"
import { type Insert, isWhole } from "../database/Inserts.ts"
import { Journal, type Transaction } from "./Journal.ts"
import type { BatchStatement } from "../database/statements.ts"

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

/** Rows that stand for a batch of events: written with the cursor, all or none, beside the event loop where that can be. */
export interface RowsOf {
  readonly statements: ReadonlyArray<BatchStatement>
  /** The same, for a transaction. */
  readonly run: Effect.Effect<unknown, SqlError.SqlError>
}
export const rowsInto = <Row extends object>(into: Insert<Row>, rows: ReadonlyArray<Row>): RowsOf => ({
  statements: [into.statement(rows)],
  run: Effect.suspend(() => into.run(rows)),
})

interface Reader<R> {
  readonly name: string
  /** How long to let events come together before each batch. */
  readonly gather?: Duration.Input
  /** Handles a batch at a time, its writes in one transaction with the cursor; otherwise one event at a time. */
  readonly atomic: boolean
  /** The kinds it cares for; it is not woken into work by others. All of them, if none are named. */
  readonly kinds?: ReadonlyArray<EventKind>
  /** Of these kinds, which it acts on: it is not woken by others, and goes past them without writing that down at once. */
  readonly concerns?: (event: Event) => boolean
  /** Asked once more before anything is written, with what the rows say: the events it acts on. */
  readonly actsOn?: (events: ReadonlyArray<Event>) => Effect.Effect<ReadonlyArray<Event>, never, R>
  /** For an atomic reader, wrap what an event causes in `becauseOf(event, ...)`; for others it already is. */
  readonly handle: (events: ReadonlyArray<Event>) => Effect.Effect<void | RowsOf, unknown, R>
  /** An atomic reader that gives rows and writes nothing itself. */
  readonly givesRows?: true
}

export class Readers extends Context.Service<
  Readers,
  {
    /** The receipt: returns once the reader has dealt with everything up to the cursor (the journal's end, if none is given). */
    readonly receipt: (name: string, cursor?: number) => Effect.Effect<void>
    readonly list: Effect.Effect<ReadonlyArray<ReaderState>>
    /** Writes down how far every reader of this process has come, also past what did not concern it. */
    readonly writeDown: Effect.Effect<void>
    /** Runs a reader for as long as the scope lives. */
    readonly run: <R>(reader: Reader<R>) => Effect.Effect<never, never, Exclude<R, Transaction>>
  }
>()("server/store/journal/Readers") {
  static readonly layer = Layer.effect(
    Readers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      // Whoever only looks has no holder, and reads nothing under a name.
      const holder = yield* Effect.serviceOption(Holder)
      const me = Option.match(holder, { onNone: () => newId("rdr"), onSome: ({ id }) => id })
      const left = Option.isNone(holder) ? sql`1 = 0` : isGone(sql, "readers.lease_owner")
      yield* Effect.orDie(freeLeases(sql, "readers"))
      const running = new Set<string>()
      const passed = new Map<string, number>()
      const waiters = new Map<string, Set<Waiter>>()
      const bells = new Map<string, Bell>()
      // Those who let events come together: whoever waits for a receipt does not wait for that.
      const gathering = new Map<string, () => void>()
      // How far each has come in this process: what it passed over is not written down at once.
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
        // The row is asked too: this process may not be the one that reads.
        const asked = Effect.gen(function* () {
          for (let pause = 25; (yield* stored(name)) < cursor; pause = Math.min(pause * 2, 1000))
            yield* Effect.sleep(pause)
        })
        yield* Effect.raceFirst(Deferred.await(waiter.done), Effect.orDie(asked)).pipe(
          Effect.ensuring(Effect.sync(() => all.delete(waiter))),
        )
      })

      const times = Effect.map(DateTime.now, (now) => ({
        now: DateTime.formatIso(now),
        until: DateTime.formatIso(DateTime.addDuration(now, lease)),
        far: DateTime.formatIso(DateTime.addDuration(now, leaseSkew)),
      }))

      /** Takes the lease; says where to go on, or nothing while another process holds it. */
      const claim = Effect.fnUntraced(function* (name: string) {
        const { far, now, until } = yield* times
        const rows = yield* sql<{
          cursor: number
        }>`INSERT INTO readers (name, cursor, lease_owner, lease_until, moved_at)
          VALUES (${name}, 0, ${me}, ${until}, ${now})
          ON CONFLICT (name) DO UPDATE SET lease_owner = ${me}, lease_until = ${until}
          WHERE readers.lease_owner = ${me} OR readers.lease_owner IS NULL OR readers.lease_until < ${now}
            OR readers.lease_until > ${far} OR ${left}
          RETURNING cursor`
        return rows[0]?.cursor
      })

      /** Moves the cursor and renews the lease. A process that slept through its lease changes nothing. */
      const move = Effect.fnUntraced(function* (name: string, cursor: number) {
        const { now, until } = yield* times
        const rows = yield* sql`UPDATE readers SET cursor = ${cursor}, failure = NULL, moved_at = ${now},
          lease_until = ${until} WHERE name = ${name} AND lease_owner = ${me} RETURNING name`
        if (rows.length === 0) return yield* Effect.die(new Error(`reader ${name} lost its lease`))
      })

      const note = (name: string, failure: string) =>
        Effect.ignore(sql`UPDATE readers SET failure = ${failure.slice(0, 2000)} WHERE name = ${name}`)

      /** Where another process holds the lease, that one writes it down. Never back. */
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
      const writeRows = Effect.fnUntraced(function* ({ run, statements }: RowsOf, name: string, cursor: number) {
        // A quiet house has no need of the thread.
        if (batches?.standing !== true || !statements.every(({ rows }) => isWhole(rows)))
          return yield* journal.transact(Effect.andThen(run, move(name, cursor)))
        const { now, until } = yield* times
        const moved = JSON.stringify([[name, cursor, now, until, me]])
        // Should it be lost with the power, its cursor is lost with it, and it is read again.
        yield* batches.write([...statements, { sql: moveInBatch, rows: moved, expects: 1 }], Infinity, false)
      })

      const loop = <R>({ actsOn, atomic, concerns, gather, givesRows, handle, kinds, name }: Reader<R>) => {
        let cursor: number | undefined
        let noted = -Infinity
        let heldUntil = 0
        let limit = most
        // Not woken into work by what does not concern it.
        const bell = kinds === undefined ? journal.bell : journal.bellOf(kinds, concerns)
        bells.set(name, bell)

        const whole = (events: ReadonlyArray<Event>, last: number) =>
          givesRows === true
            ? Effect.flatMap(handle(events), (rows) => writeRows(rows as RowsOf, name, last))
            : journal.transact(Effect.andThen(handle(events), move(name, last)))

        // Keeps the lease through slow handlers, and what was done even when a later event fails.
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

        /** True while the lease is ours and not about to end; a quiet reader asks for none and writes nothing. */
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

        /** Lets events come together: those who wrote the first of them have better to do now than to wait for this reader. */
        const rest = Effect.suspend(() => {
          if (gather === undefined || (waiters.get(name)?.size ?? 0) > 0) return Effect.void
          const hurry = Deferred.makeUnsafe<void>()
          gathering.set(name, () => void Deferred.doneUnsafe(hurry, Effect.void))
          return Effect.raceFirst(Deferred.await(hurry), Effect.sleep(gather))
        })

        /** Nothing up to here concerns it. That is written down now and then: to read past it again costs nothing. */
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
          // Asked before reading: what is appended in between is not passed over.
          // Whoever waits for a receipt may have written in another house, which this one was not told of yet.
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
            // The cursor was moved by another process, or is about to be.
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
          // Whoever is behind does not rest.
          if (events.length < limit) yield* rest
        })
        return pass.pipe(
          Effect.tapCause((cause) =>
            Effect.andThen(
              Effect.logError(`Reader ${name} failed and will try again`, cause),
              Effect.suspend(() => {
                cursor = undefined
                heldUntil = 0
                // One at a time, so that all before the event that fails is dealt with.
                limit = 1
                return note(name, String(cause))
              }),
            ),
          ),
          Effect.sandbox,
          // It never skips: an event that cannot be handled stops its reader, and the doctor says so.
          Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("10 seconds")])),
          Effect.orDie,
          Effect.forever,
        )
      }

      const run: Readers["Service"]["run"] = (reader) =>
        Effect.suspend(() => {
          if (running.has(reader.name)) return Effect.die(new Error(`two readers are named ${reader.name}`))
          running.add(reader.name)
          return Effect.ensuring(
            loop(reader),
            Effect.sync(() => running.delete(reader.name)),
          )
        }) as Effect.Effect<never, never, never>

      const list = sql<ReaderState>`SELECT name, cursor, failure FROM readers ORDER BY name`.pipe(Effect.orDie)

      yield* Effect.addFinalizer(() =>
        Effect.ignore(sql`UPDATE readers SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ${me}`),
      )
      return Readers.of({ receipt, list, run, writeDown })
    }),
  )
}

/** A reader as a layer: it runs while the house stands. */
export const readerLayer = <R>(reader: Reader<R>): Layer.Layer<never, never, Readers | Exclude<R, Transaction>> =>
  Layer.effectDiscard(Effect.flatMap(Readers, (readers) => Effect.forkScoped(readers.run(reader))))
