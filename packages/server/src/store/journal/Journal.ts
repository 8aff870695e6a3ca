/**
 * The journal: what happened, in order. An event is appended in the transaction of the change it describes, and rolled
 * back with it. Everything that reacts (feed, audit, timers, runs and webhooks) reads it with a cursor.
 *
 * Events are buffered and written last, just before COMMIT. On Postgres one lock is taken there, so that cursors become
 * visible in order; being the last lock of every transaction, it cannot be part of a deadlock.
 */
import { type Event, type EventKind, type NewEvent, type PrincipalId, type Provenance } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { isConflict, repeatConflicting } from "../database/dialect/Conflicts.ts"
import { batchesOf } from "../database/sqlite/Batches.ts"
import type { Bell } from "./signals/Bell.ts"
import { SharedDatabase } from "../leases/Holder.ts"
import { currentCause, newId } from "./Correlation.ts"
import { encoded, type EventRow } from "./events/eventRows.ts"
import { type Follower, follow, type Following, type EventReads } from "./readers/Following.ts"
import { isWhole, makeInsert, type Rows } from "../database/dialect/Inserts.ts"
import { makeCommitNews } from "./events/commitNews.ts"
import { noticeChannel, Notices } from "./signals/Notices.ts"
import { makeRetain } from "./retention/retain.ts"
import { tooFew, type BatchStatement, type Changes } from "../database/statements.ts"

/** SQL that a transaction runs last, for all that was put off for it. */
export interface LateWork<One> {
  (all: ReadonlyArray<One>): Effect.Effect<void>
  /** Works run in this order, whatever was put off first: otherwise two transactions could wait for each other. */
  readonly turn: number
}

/** Present inside `transact`: an append outside a transaction does not compile. */
export class Transaction extends Context.Service<
  Transaction,
  {
    readonly events: Array<EventRow>
    /** The level of the database transaction that the events belong to. */
    readonly level: unknown
    /** Run if the transaction is not committed, to undo changes in this process. */
    readonly undo: Array<() => void>
    /** What was put off to the end, by the work that does it. */
    readonly late: Map<LateWork<never>, Array<never>>
    open: boolean
  }
>()("server/store/journal/Transaction") {}

/** An event with its cause and time: nothing is taken from the fiber that writes it. */
export type CausedEvent = NewEvent & {
  readonly at: string
  readonly actor: PrincipalId | null
  readonly provenance: Provenance
  readonly correlationId: string
}

const columns = ["kind", "version", "at", "space", "actor", "provenance", "correlationId", "body"] as const

const lastOf = (rows: ReadonlyArray<unknown>): number => (rows[0] as { readonly cursor: number }).cursor

/** There is one writer at a time, and rows are inserted one after the other: their numbers have no gap. */
const cursorsTo = (last: number, count: number): ReadonlyArray<{ readonly cursor: number }> =>
  Array.from({ length: count }, (_, at) => ({ cursor: last - count + 1 + at }))

/** An arbitrary number of ours: the key of Postgres's advisory lock on the end of the journal. */
const appendLock = 7_461_001

export class Journal extends Context.Service<
  Journal,
  {
    readonly append: (event: NewEvent) => Effect.Effect<void, never, Transaction>
    /** Several events, each with its own cause: for code that writes on behalf of many. */
    readonly appendAll: (events: ReadonlyArray<CausedEvent>) => Effect.Effect<void, never, Transaction>
    /** Writes rows that need no reads, with their events, in one transaction; outside the event loop if possible. */
    readonly writeTogether: (rows: ReadonlyArray<Rows>, events: ReadonlyArray<CausedEvent>) => Effect.Effect<void>
    /**
     * Runs an update that must return as many rows as it says, and inserts the dependent rows of other tables and the
     * events of all: on Postgres in one statement, on SQLite outside the event loop. False: nothing was written,
     * because that is not possible here or the update would have changed fewer rows; then use `transact`.
     */
    readonly moveTogether: (
      update: Changes,
      rows: ReadonlyArray<Rows>,
      events: ReadonlyArray<CausedEvent>,
    ) => Effect.Effect<boolean>
    /**
     * One database transaction with the events that belong to it. No other I/O inside: it holds the writer, and it runs
     * again if Postgres ends it because of another transaction.
     */
    readonly transact: <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Transaction>>
    /**
     * Undoes something in this process if this transaction is not committed: at once, before anybody retries. It also
     * runs if the answer to the COMMIT is lost, or the waiting fiber is interrupted.
     */
    readonly onRollback: (undo: () => void) => Effect.Effect<void, never, Transaction>
    /**
     * Does something just before the events are written, with all that this transaction put off for the same work: for
     * rows that many transactions change, so that they are locked late and in one order.
     */
    readonly putOff: <One>(work: LateWork<One>, one: One) => Effect.Effect<void, never, Transaction>
    /** The events after a cursor: all, or the given kinds. */
    readonly read: EventReads["read"]
    /**
     * The same as far as this process knows: near the end it costs no query, and it may not have what other processes
     * wrote a moment ago. For loops that a bell wakes.
     */
    readonly known: EventReads
    /** Delivers new events in order until the scope ends. Stores no cursor, unlike a named reader. */
    readonly follow: (follower: Follower) => Effect.Effect<Following, never, Scope.Scope>
    /** The cursor of the newest event. */
    readonly end: EventReads["end"]
    /** The same, read from the table: committed events are visible there a moment before this process knows of them. */
    readonly committed: EventReads["end"]
    /** Events at or before this cursor may be gone. */
    readonly floor: Effect.Effect<number>
    /** Removes expired events, except those that a named reader has not yet read. Returns how many. */
    readonly retain: Effect.Effect<number>
    /** Something else changed the table: drops everything in memory. */
    readonly readAnew: Effect.Effect<void>
    /** Rings when anything may have been committed. */
    readonly bell: Bell
    /**
     * A bell that rings only for these kinds, and only for events that `concerns` accepts; between rings there are none
     * to read.
     */
    readonly bellOf: (kinds: ReadonlyArray<EventKind>, concerns?: (event: Event) => boolean) => Bell
  }
>()("server/store/journal/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const notices = yield* Notices
      /** The id in this process's notices, so that it does not read its own writes again. */
      const me = newId("jnl")
      /** Whether other processes must be notified. */
      const isShared = yield* SharedDatabase
      const { bell, bellOf, committed, end, floor, foreign, known, read, readAnew, tell } = yield* makeCommitNews(me)

      const levelOf = (context: Context.Context<never>) => Context.getOrUndefined(context, sql.transactionService)

      const own = Effect.fnUntraced(function* (what: string | undefined) {
        const transaction = yield* Transaction
        if (!transaction.open || levelOf(yield* Effect.context<never>()) !== transaction.level)
          return yield* Effect.die(
            new Error(`${what} was appended outside its transaction: nest with Journal.transact, fork nothing`),
          )
        return transaction
      })

      const appendAll: Journal["Service"]["appendAll"] = Effect.fnUntraced(function* (events) {
        const transaction = yield* own(events[0]?.kind)
        for (const event of events) transaction.events.push(rowOf(event))
      })

      const rowOf = ({ actor, at, body, correlationId, kind, provenance, space }: CausedEvent): EventRow => ({
        ...encoded(kind, body),
        at,
        space: space ?? null,
        actor,
        provenance,
        correlationId,
      })

      const append = Effect.fnUntraced(function* (event: NewEvent) {
        const transaction = yield* own(event.kind)
        const cause = yield* currentCause
        transaction.events.push({
          ...encoded(event.kind, event.body),
          at: DateTime.formatIso(yield* DateTime.now),
          space: event.space ?? null,
          actor: event.actor === undefined ? cause.actor : event.actor,
          provenance: event.provenance ?? cause.provenance,
          correlationId: cause.correlationId,
        })
      })

      const lock = sql.onDialectOrElse({
        pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${appendLock})`),
        orElse: () => Effect.void,
      })

      // The lock is taken as late as possible: from there to the COMMIT nobody else can append.
      const insert = makeInsert<EventRow>(sql, "journal", columns, "RETURNING cursor", ["version"])
      /** The text of a notice: who has written, and how far. */
      const noticeOf = (cursor: number): string => `${me} ${cursor}`
      const notified = isShared ? `, pg_notify('${noticeChannel("journal")}', '${me} ' || last)` : ""
      /** Lock, events and notice in one statement. No event is inserted before the lock is held. */
      const atOnce = (rows: ReadonlyArray<Rows>): string =>
        `WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(${appendLock})),
          ${rows.map((some, at) => `made${at} AS (${some.selectFrom(at + 1)}),`).join("\n")}
          told AS (${insert.selectFrom(rows.length + 1, "held, ")} RETURNING cursor)
          SELECT last AS cursor${notified} FROM (SELECT max(cursor) AS last FROM told) AS all_of_it`
      const alone = atOnce([])
      const write = Effect.fnUntraced(function* (events: ReadonlyArray<EventRow>) {
        const text = foreign ? insert.textOf(events) : ""
        if (foreign && isWhole(text)) {
          const last = lastOf(yield* sql.unsafe(alone, [text]))
          return yield* sql.afterCommit(Effect.sync(() => tell(events, cursorsTo(last, events.length))))
        }
        if (foreign) yield* lock
        const cursors = (yield* insert.run(events)) as ReadonlyArray<{ readonly cursor: number }>
        yield* sql.afterCommit(Effect.sync(() => tell(events, cursors)))
        // Events are in the tail before the bell rings.
        if (isShared || !foreign) yield* notices.send("journal", foreign ? noticeOf(cursors.at(-1)!.cursor) : "")
      })

      const attempt = <A, E, R>(
        body: Effect.Effect<A, E, R>,
        begun?: (connection: object) => void,
      ): Effect.Effect<A, E, Exclude<R, Transaction>> =>
        Effect.suspend(() => {
          // The body's own failures pass through, including SQL errors; a failing BEGIN, append or COMMIT is a defect.
          let refused: { readonly by: E } | undefined
          let own: Transaction["Service"] | undefined
          const whole = Effect.withFiber<A, E, Exclude<R, Transaction>>((fiber) => {
            const known = Context.getOrUndefined(fiber.context, Transaction)
            // Work after the commit still has the old transaction in its context; it must not get these events.
            const outer = known?.open === true ? known : undefined
            const level = levelOf(fiber.context)
            begun?.(level![0])
            const mine: Transaction["Service"] = { events: [], undo: [], late: new Map(), level, open: true }
            own = mine
            return Effect.provideService(body, Transaction, mine).pipe(
              Effect.onExit(() => Effect.sync(() => void (mine.open = false))),
              Effect.tapError((error) => Effect.sync(() => void (refused = { by: error }))),
              Effect.tap(() => {
                if (outer !== undefined) {
                  outer.events.push(...mine.events)
                  outer.undo.push(...mine.undo)
                  for (const [work, all] of mine.late) lateOf(outer, work).push(...all)
                  return Effect.void
                }
                const written = mine.events.length > 0 ? Effect.orDie(write(mine.events)) : Effect.void
                if (mine.late.size === 0) return written
                return Effect.andThen(
                  Effect.forEach(
                    [...mine.late].toSorted(([one], [other]) => one.turn - other.turn),
                    ([work, all]) => work(all),
                    { discard: true },
                  ),
                  written,
                )
              }),
            )
          })
          return sql.withTransaction(whole).pipe(
            Effect.onError(() => Effect.sync(() => own?.undo.forEach((undo) => undo()))),
            Effect.catch((error) => (error === refused?.by ? Effect.fail(refused.by) : Effect.die(error))),
          )
        })

      const transact: Journal["Service"]["transact"] = (body) =>
        Effect.withFiber((fiber) =>
          levelOf(fiber.context) === undefined ? repeatConflicting((begun) => attempt(body, begun)) : attempt(body),
        )

      const lateOf = <One>(transaction: Transaction["Service"], work: LateWork<One>): Array<One> => {
        const late = transaction.late as unknown as Map<LateWork<One>, Array<One>>
        const known = late.get(work)
        if (known !== undefined) return known
        const made: Array<One> = []
        late.set(work, made)
        return made
      }
      const putOff: Journal["Service"]["putOff"] = (work, one) =>
        Effect.map(own("Something"), (transaction) => void lateOf(transaction, work).push(one))

      const onRollback: Journal["Service"]["onRollback"] = (undo) =>
        Effect.map(Transaction, (transaction) => void transaction.undo.push(undo))

      const batches = batchesOf(sql)
      /**
       * Writes a batch and announces its events, because no COMMIT of ours does. Uninterruptible, so that nothing
       * written stays unannounced.
       */
      const toldOf = <E>(write: Effect.Effect<ReadonlyArray<number>, E>, written: ReadonlyArray<EventRow>) =>
        Effect.uninterruptible(
          Effect.map(write, (last) => {
            tell(written, cursorsTo(last.at(-1)!, written.length))
            bell.ring()
          }),
        )
      const writeTogether: Journal["Service"]["writeTogether"] = (rows, events) =>
        Effect.suspend(() => {
          const written = events.map(rowOf)
          const told = insert.with(written)
          const all = [...rows, told]
          const count = all.reduce((sum, some) => sum + some.count, 0)
          const inTransaction = transact(
            Effect.andThen(Effect.orDie(Effect.forEach(rows, ({ run }) => run())), appendAll(events)),
          )
          if (foreign) {
            const texts = all.map(({ text }) => text())
            if (texts.every(isWhole))
              return Effect.matchEffect(sql.unsafe(atOnce(rows), texts), {
                onSuccess: (given) => Effect.sync(() => tell(written, cursorsTo(lastOf(given), written.length))),
                onFailure: (error) => (isConflict(error) ? inTransaction : Effect.die(error)),
              })
          } else if (batches?.takes(count) === true) {
            const statements = all.map(({ statement }) => statement())
            if (statements.every((one) => isWhole(one.rows)))
              return Effect.orDie(toldOf(batches.write(statements, count), written))
          }
          return inTransaction
        })

      /**
       * As a batch of SQLite: first the update, which must change as many rows as it says, then the other rows and the
       * events.
       */
      const moveInBatch = (
        update: Changes,
        rows: ReadonlyArray<BatchStatement>,
        written: ReadonlyArray<EventRow>,
      ): Effect.Effect<boolean> => {
        const statements = [update, ...rows, insert.statement(written)]
        const count = written.length + rows.reduce((sum, some) => sum + some.rows.length, 0)
        if (batches?.takes(count) !== true || !statements.every((one) => isWhole(one.rows)))
          return Effect.succeed(false)
        return Effect.as(toldOf(batches.write(statements, count), written), true).pipe(
          // Too few rows, or the thread has ended: the caller checks the rows and writes by itself.
          Effect.catch(({ reason }) =>
            (reason.cause as Error | undefined)?.message === tooFew
              ? Effect.succeed(false)
              : Effect.as(Effect.logWarning("A batch was not written; its rows are written one by one", reason), false),
          ),
        )
      }
      // Fewer rows than expected cause a division by zero, which undoes everything. Here, too, the lock comes last,
      // after all other rows.
      const movedAtOnce = (update: string, rows: ReadonlyArray<Rows>, place: number): string =>
        `WITH moved AS (${update}),
          counted AS MATERIALIZED (SELECT 1 / CASE WHEN count(*) = $${place}::bigint THEN 1 ELSE 0 END AS whole FROM moved),
          ${rows.map((some, at) => `made${at} AS (${some.wholeFrom(at + 2)} RETURNING 1),`).join("\n")}
          held AS MATERIALIZED (SELECT pg_advisory_xact_lock(${appendLock}) FROM counted
            WHERE whole + ${rows.map((_, at) => `(SELECT count(*) FROM made${at})`).join(" + ") || "0"} > 0),
          told AS (${insert.selectFrom(rows.length + 2, "held, ")} RETURNING cursor)
          SELECT last AS cursor${notified} FROM (SELECT max(cursor) AS last FROM told) AS all_of_it`
      const moveTogether: Journal["Service"]["moveTogether"] = (update, rows, events) =>
        Effect.suspend(() => {
          const written = events.map(rowOf)
          const some = rows.filter(({ count }) => count > 0)
          if (!foreign)
            return moveInBatch(
              update,
              some.map(({ wholeStatement }) => wholeStatement()),
              written,
            )
          const texts = [update.rows, ...some.map(({ text }) => text()), insert.textOf(written)]
          if (!texts.every(isWhole)) return Effect.succeed(false)
          return Effect.match(sql.unsafe(movedAtOnce(update.sql, some, texts.length + 1), [...texts, update.expects]), {
            onSuccess: (given) => {
              tell(written, cursorsTo(lastOf(given), written.length))
              return true
            },
            // Too few rows, or a deadlock: the caller checks the rows and writes by itself.
            onFailure: () => false,
          })
        })

      const retain = yield* makeRetain(end, readAnew)

      const followIt: Journal["Service"]["follow"] = (follower) =>
        follow({ known, end }, follower.kinds === undefined ? bell : bellOf(follower.kinds), follower)

      return Journal.of({
        append,
        appendAll,
        writeTogether,
        moveTogether,
        transact,
        onRollback,
        putOff,
        read,
        known,
        follow: followIt,
        end,
        committed,
        floor,
        retain,
        readAnew,
        bell,
        bellOf,
      })
    }),
  )
}
