/**
 * The journal: what happened, in order. An event is appended in the transaction that makes it true, and dies with it.
 * Everything that reacts (feed, audit, timers, later runs and webhooks) reads it with a cursor.
 *
 * Events are buffered and written last, just before COMMIT. On Postgres one lock is taken there, so that cursors become
 * visible in order; being the last lock of every transaction, it cannot be part of a deadlock.
 */
import { Event, type EventKind, kinds, type NewEvent } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "./bell.ts"
import { currentCause } from "./Correlation.ts"
import { dieOnSql } from "./Columns.ts"
import { Notices } from "./Notices.ts"

/** Present inside `transact`: an event that belongs to no transaction does not compile. */
export class Transaction extends Context.Service<Transaction, { readonly events: Array<Row> }>()(
  "server/store/Transaction",
) {}

interface Row {
  readonly kind: EventKind
  readonly at: string
  readonly space: string | null
  readonly actor: string | null
  readonly provenance: string
  readonly correlationId: string
  readonly body: string
}

const encoders = Object.fromEntries(
  Object.entries(kinds).map(([kind, { body }]) => [
    kind,
    Schema.encodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Schema.Struct(body)))),
  ]),
) as Record<EventKind, (body: unknown) => string>

const decodeEvent = Schema.decodeUnknownSync(Schema.toCodecJson(Event))
const fromRow = (row: Row & { readonly cursor: number }): Event =>
  decodeEvent({ ...row, body: JSON.parse(row.body) as unknown })

/** Any number that is ours: the key of Postgres's advisory lock on the end of the journal. */
const appendLock = 7_461_001

export class Journal extends Context.Service<
  Journal,
  {
    readonly append: (event: NewEvent) => Effect.Effect<void, never, Transaction>
    /** One transaction of the database with the events that belong to it. No foreign I/O inside: it holds the writer. */
    readonly transact: <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Transaction>>
    readonly read: (options: { readonly after: number; readonly limit: number }) => Effect.Effect<ReadonlyArray<Event>>
    /** The cursor of the newest event. */
    readonly end: Effect.Effect<number>
    /** What stands at or before this cursor may be gone. */
    readonly floor: Effect.Effect<number>
    /** Removes what is past its days, but nothing that a named reader has not yet read. Returns how many. */
    readonly retain: Effect.Effect<number>
    readonly bell: Bell
  }
>()("server/store/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const notices = yield* Notices
      const bell = new Bell()
      yield* notices.listen("journal", () => bell.ring())

      const append = Effect.fnUntraced(function* (event: NewEvent) {
        const { events } = yield* Transaction
        const cause = yield* currentCause
        events.push({
          kind: event.kind,
          at: DateTime.formatIso(yield* DateTime.now),
          space: event.space ?? null,
          actor: event.actor === undefined ? cause.actor : event.actor,
          provenance: event.provenance ?? cause.provenance,
          correlationId: cause.correlationId,
          body: encoders[event.kind](event.body),
        })
      })

      const lock = sql.onDialectOrElse({
        pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${appendLock})`),
        orElse: () => Effect.void,
      })

      const write = Effect.fnUntraced(function* (events: ReadonlyArray<Row>) {
        yield* lock
        yield* sql`INSERT INTO journal ${sql.insert(events as never)}`
        yield* notices.send("journal")
      })

      const transact = <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Transaction>> =>
        Effect.withFiber((fiber) => {
          const outer = Context.getOrUndefined(fiber.context, Transaction)
          const events: Array<Row> = []
          const inside = Effect.provideService(body, Transaction, { events })
          const whole = Effect.tap(inside, () => {
            if (events.length === 0) return Effect.void
            if (outer === undefined) return dieOnSql(write(events))
            outer.events.push(...events)
            return Effect.void
          })
          return dieOnTransaction(sql.withTransaction(whole)) as Effect.Effect<A, E, never>
        })

      const read = Effect.fn("Journal.read")(function* (options: { readonly after: number; readonly limit: number }) {
        const rows = yield* sql<Row & { readonly cursor: number }>`SELECT cursor, kind, at, space, actor, provenance,
          correlation_id, body FROM journal WHERE cursor > ${options.after} ORDER BY cursor LIMIT ${options.limit}`
        return rows.map(fromRow)
      }, Effect.orDie)

      const one = (query: Effect.Effect<ReadonlyArray<{ readonly cursor: number | null }>, unknown>) =>
        Effect.map(Effect.orDie(query), (rows) => rows[0]?.cursor ?? 0)
      const floor = one(sql<{ cursor: number }>`SELECT cursor FROM journal_floor`)
      // A journal that retention has emptied still ends where it ended.
      const end = Effect.zipWith(one(sql<{ cursor: number }>`SELECT max(cursor) AS cursor FROM journal`), floor, Math.max)

      const retain = Effect.gen(function* () {
        const now = yield* DateTime.now
        const slowest = (yield* sql<{ cursor: number | null }>`SELECT min(cursor) AS cursor FROM readers`)[0]?.cursor
        const most = slowest ?? (yield* end)
        let removed = 0
        let highest = 0
        for (const [kind, { days }] of Object.entries(kinds)) {
          const before = DateTime.formatIso(DateTime.subtract(now, { days }))
          const gone = yield* sql<{ cursor: number }>`DELETE FROM journal
            WHERE kind = ${kind} AND at < ${before} AND cursor <= ${most} RETURNING cursor`
          removed += gone.length
          for (const row of gone) highest = Math.max(highest, row.cursor)
        }
        if (removed > 0) yield* sql`UPDATE journal_floor SET cursor = ${highest} WHERE cursor < ${highest}`
        return removed
      }).pipe(sql.withTransaction, Effect.orDie, Effect.withSpan("Journal.retain"))

      return Journal.of({ append, transact, read, end, floor, retain, bell })
    }),
  )
}

/** BEGIN and COMMIT that fail are defects; the body's own failures, SQL ones too if it declares them, pass through. */
const dieOnTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) => dieOnSql(effect)
