/**
 * The journal: what happened, in order. An event is appended in the transaction that makes it true, and dies with it.
 * Everything that reacts (feed, audit, timers, later runs and webhooks) reads it with a cursor.
 *
 * Events are buffered and written last, just before COMMIT. On Postgres one lock is taken there, so that cursors become
 * visible in order; being the last lock of every transaction, it cannot be part of a deadlock.
 */
import {
  type Event,
  type EventKind,
  eventSchemas,
  kinds,
  type NewEvent,
  type PrincipalId,
  type Provenance,
} from "@stoa/contract"
import { Array as Arr, Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "./bell.ts"
import { currentCause } from "./Correlation.ts"
import { Notices } from "./Notices.ts"

/** Present inside `transact`: an event that belongs to no transaction does not compile. */
export class Transaction extends Context.Service<
  Transaction,
  {
    readonly events: Array<Row>
    /** The level of the database's transaction that the events belong to. */
    readonly level: unknown
    open: boolean
  }
>()("server/store/Transaction") {}

/** An event with who and what caused it, and when: nothing is taken from the fiber that writes it. */
export type CausedEvent = NewEvent & {
  readonly at: string
  readonly actor: PrincipalId | null
  readonly provenance: Provenance
  readonly correlationId: string
}

interface Row {
  readonly kind: EventKind
  readonly at: string
  readonly space: string | null
  readonly actor: string | null
  readonly provenance: string
  readonly correlationId: string
  readonly body: string
}

const encoders = {
  ...(Object.fromEntries(
    Object.entries(kinds).map(([kind, { body }]) => [
      kind,
      Schema.encodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Schema.Struct(body)))),
    ]),
  ) as Record<EventKind, (body: unknown) => string>),
  // The most frequent ones are plain JSON already: there is nothing to encode.
  "call.received": JSON.stringify,
  "call.settled": JSON.stringify,
}

// By kind: a union would try one after the other.
const decoders = Object.fromEntries(
  Object.entries(eventSchemas).map(([kind, schema]) => [kind, Schema.decodeUnknownSync(Schema.toCodecJson(schema))]),
) as unknown as Record<EventKind, (row: unknown) => Event>
const fromRow = (row: Row & { readonly cursor: number }): Event =>
  decoders[row.kind]({ ...row, body: JSON.parse(row.body) as unknown })

/** Any number that is ours: the key of Postgres's advisory lock on the end of the journal. */
const appendLock = 7_461_001
/** So many rows in one INSERT: SQLite takes 32,766 parameters. */
const rowsAtOnce = 1000
/** Retention removes so many at a time, so that it never holds the writer for long. */
const removedAtOnce = 1000

export class Journal extends Context.Service<
  Journal,
  {
    readonly append: (event: NewEvent) => Effect.Effect<void, never, Transaction>
    /** Several at once, each with its own cause: for whoever writes for many. */
    readonly appendAll: (events: ReadonlyArray<CausedEvent>) => Effect.Effect<void, never, Transaction>
    /** One transaction of the database with the events that belong to it. No foreign I/O inside: it holds the writer. */
    readonly transact: <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Transaction>>
    /** What happened after a cursor: everything, or the kinds that are asked for. */
    readonly read: (options: {
      readonly after: number
      readonly limit: number
      readonly kinds?: ReadonlyArray<EventKind>
    }) => Effect.Effect<ReadonlyArray<Event>>
    /** The cursor of the newest event. */
    readonly end: Effect.Effect<number>
    /** What stands at or before this cursor may be gone. */
    readonly floor: Effect.Effect<number>
    /** Removes what is past its days, but nothing that a named reader has not yet read. Returns how many. */
    readonly retain: Effect.Effect<number>
    readonly bell: Bell
    /** A number that rises when something of these kinds may have been committed: while it stands, reading finds nothing. */
    readonly stamp: (kinds: ReadonlyArray<EventKind>) => number
  }
>()("server/store/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const notices = yield* Notices
      const bell = new Bell()
      // What this process has committed, by kind. What others commit is told by notice, and may be anything.
      const committed = new Map<string, number>()
      const foreign = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
      let noticed = 0
      yield* notices.listen("journal", () => {
        if (foreign) noticed++
        bell.ring()
      })
      const stamp = (of: ReadonlyArray<EventKind>): number => {
        let sum = noticed
        for (const kind of of) sum += committed.get(kind) ?? 0
        return sum
      }
      const count = (events: ReadonlyArray<Row>) =>
        Effect.sync(() => {
          for (const { kind } of events) committed.set(kind, (committed.get(kind) ?? 0) + 1)
        })

      const levelOf = (context: Context.Context<never>): unknown =>
        Context.getOrUndefined(context, sql.transactionService)

      const own = Effect.fnUntraced(function* (kind: EventKind | undefined) {
        const transaction = yield* Transaction
        if (!transaction.open || levelOf(yield* Effect.context<never>()) !== transaction.level)
          return yield* Effect.die(
            new Error(`${kind} was appended outside its transaction: nest with Journal.transact, fork nothing`),
          )
        return transaction
      })

      const appendAll: Journal["Service"]["appendAll"] = Effect.fnUntraced(function* (events) {
        const transaction = yield* own(events[0]?.kind)
        for (const { actor, at, body, correlationId, kind, provenance, space } of events)
          transaction.events.push({
            kind,
            at,
            space: space ?? null,
            actor,
            provenance,
            correlationId,
            body: encoders[kind](body),
          })
      })

      const append = Effect.fnUntraced(function* (event: NewEvent) {
        const transaction = yield* own(event.kind)
        const cause = yield* currentCause
        transaction.events.push({
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

      // The lock is taken as late as can be: from there to its COMMIT nobody else appends.
      const write = Effect.fnUntraced(function* (events: ReadonlyArray<Row>) {
        // Counted before the bell rings.
        yield* sql.afterCommit(count(events))
        yield* notices.send("journal")
        yield* lock
        yield* Effect.forEach(
          Arr.chunksOf(events, rowsAtOnce),
          (some) => sql`INSERT INTO journal ${sql.insert(some as never)}`,
          { discard: true },
        )
      })

      const transact = <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Transaction>> =>
        Effect.suspend(() => {
          // The body's own failures pass through, SQL ones too; a BEGIN, append or COMMIT that fails is a defect.
          let refused: { readonly by: E } | undefined
          const whole = Effect.withFiber<A, E, Exclude<R, Transaction>>((fiber) => {
            const known = Context.getOrUndefined(fiber.context, Transaction)
            // What runs after the commit still has the old one in its context; it must not get these events.
            const outer = known?.open === true ? known : undefined
            const own: Transaction["Service"] = { events: [], level: levelOf(fiber.context), open: true }
            return Effect.provideService(body, Transaction, own).pipe(
              Effect.onExit(() => Effect.sync(() => void (own.open = false))),
              Effect.tapError((error) => Effect.sync(() => void (refused = { by: error }))),
              Effect.tap(() => {
                if (own.events.length === 0) return Effect.void
                if (outer === undefined) return Effect.orDie(write(own.events))
                outer.events.push(...own.events)
                return Effect.void
              }),
            )
          })
          return Effect.catch(sql.withTransaction(whole), (error) =>
            error === refused?.by ? Effect.fail(refused.by) : Effect.die(error),
          )
        })

      const read = Effect.fn("Journal.read")(function* ({
        after,
        kinds: wanted,
        limit,
      }: Parameters<Journal["Service"]["read"]>[0]) {
        const which = wanted === undefined ? sql`` : sql`AND ${sql.in("kind", wanted)}`
        const rows = yield* sql<Row & { readonly cursor: number }>`SELECT cursor, kind, at, space, actor, provenance,
          correlation_id, body FROM journal WHERE cursor > ${after} ${which} ORDER BY cursor LIMIT ${limit}`
        return rows.map(fromRow)
      }, Effect.orDie)

      const one = (query: Effect.Effect<ReadonlyArray<{ readonly cursor: number | null }>, unknown>) =>
        Effect.map(Effect.orDie(query), (rows) => rows[0]?.cursor ?? 0)
      const floor = one(sql<{ cursor: number }>`SELECT cursor FROM journal_floor`)
      // A journal that retention has emptied still ends where it ended.
      const end = Effect.zipWith(
        one(sql<{ cursor: number }>`SELECT max(cursor) AS cursor FROM journal`),
        floor,
        Math.max,
      )

      const remove = Effect.fnUntraced(function* (kind: string, before: string) {
        const slowest = (yield* sql<{ cursor: number | null }>`SELECT min(cursor) AS cursor FROM readers`)[0]?.cursor
        const most = slowest ?? (yield* end)
        const gone = yield* sql<{ cursor: number }>`DELETE FROM journal WHERE cursor IN (SELECT cursor FROM journal
          WHERE kind = ${kind} AND at < ${before} AND cursor <= ${most} ORDER BY cursor LIMIT ${removedAtOnce}) RETURNING cursor`
        const highest = gone.reduce((most, row) => Math.max(most, row.cursor), 0)
        if (gone.length > 0) yield* sql`UPDATE journal_floor SET cursor = ${highest} WHERE cursor < ${highest}`
        return gone.length
      }, sql.withTransaction)

      const retain = Effect.gen(function* () {
        const now = yield* DateTime.now
        let removed = 0
        for (const [kind, { days }] of Object.entries(kinds)) {
          const before = DateTime.formatIso(DateTime.subtract(now, { days }))
          let gone: number
          do removed += gone = yield* remove(kind, before)
          while (gone === removedAtOnce)
        }
        return removed
      }).pipe(Effect.orDie, Effect.withSpan("Journal.retain"))

      return Journal.of({ append, appendAll, transact, read, end, floor, retain, bell, stamp })
    }),
  )
}
