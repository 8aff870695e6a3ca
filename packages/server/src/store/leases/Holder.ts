/**
 * This process as the owner of its running work: rows name it, and `holders` says that it is alive. If several
 * processes share a Postgres database, each holds an advisory lock in its own session. Postgres releases the lock when
 * the process dies; the next process that finds it free deletes the dead one's row. A frozen or disconnected process
 * may keep its session, so its lease expires instead.
 */
import { Context, Duration, Effect, Layer, Scope } from "effect"
import { SqlClient, type SqlConnection, type Statement } from "effect/sql"
import { newId } from "../journal/Correlation.ts"

/**
 * Whether several processes may use one Postgres database. If not, the house's lock admits only one, like the folder's
 * lock.
 */
export const SharedDatabase = Context.Reference<boolean>("server/store/SharedDatabase", { defaultValue: () => false })

/** Long enough for a busy process, short enough for those who wait for the work of a frozen one. */
export const LeaseSeconds = Context.Reference<number>("server/store/LeaseSeconds", { defaultValue: () => 9 })

const forEver = 1e15
/** How often a process checks which others are alive: a death is noticed this much later. */
const glance = Duration.millis(500)
/** The work of a beat also runs after this many checks in which nobody came or went. */
const glancesABeat = 10
/** An arbitrary number of ours: the first key of the processes' advisory locks. */
const presenceLock = 7_461_003

export class Holder extends Context.Service<
  Holder,
  {
    readonly id: string
    /** How many processes were alive at the last check, including this one. */
    readonly houses: () => number
    /**
     * If others share the database: runs `work` when a process has come or gone, and from time to time, until the scope
     * ends.
     */
    readonly eachBeat: (work: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  }
>()("server/store/Holder") {
  static readonly layer = Layer.effect(
    Holder,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const seconds = yield* LeaseSeconds
      const isShared = sql.onDialectOrElse({ pg: () => true, orElse: () => false }) && (yield* SharedDatabase)
      const id = newId("own")
      const works = new Set<Effect.Effect<void>>()
      let there: ReadonlySet<string> = new Set([id])
      const holder = Holder.of({
        id,
        houses: () => Math.max(1, there.size),
        eachBeat: (work) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => works.add(work)),
              () => Effect.sync(() => works.delete(work)),
            ),
          ),
      })
      yield* Effect.addFinalizer(() => Effect.ignore(sql`DELETE FROM holders WHERE id = ${id}`))
      if (!isShared) {
        // The lock guarantees that all earlier holders are gone.
        yield* Effect.orDie(sql`DELETE FROM holders`)
        yield* Effect.orDie(sql`INSERT INTO holders ${sql.insert({ id, leaseUntil: forEver })}`)
        return holder
      }

      /**
       * Uses the session that has the lock, so that its loss is noticed, and the database's clock, which all processes
       * share.
       */
      const look = Effect.fnUntraced(function* (session: SqlConnection.Connection) {
        const rows = yield* session.executeValues(presence, [id, seconds])
        return new Set([id, ...rows.map(([other]) => String(other))])
      })

      const beat = Effect.gen(function* () {
        for (const work of works)
          yield* Effect.catchCause(work, (cause) => Effect.logError("Work at a heartbeat failed", cause))
      })

      const session = Effect.gen(function* () {
        const made = yield* sql.reserve
        const lock = [presenceLock, id]
        // Unlocked explicitly: the connection goes back to the pool and would keep the lock.
        yield* Effect.acquireRelease(made.executeValues("SELECT pg_advisory_lock($1, hashtext($2))", lock), () =>
          Effect.ignore(made.executeValues("SELECT pg_advisory_unlock($1, hashtext($2))", lock)),
        )
        there = yield* look(made)
        return made
      })

      const keep = (made: SqlConnection.Connection) =>
        Effect.gen(function* () {
          for (let glances = 1; ; glances++) {
            yield* Effect.sleep(glance)
            const before = there
            there = yield* look(made)
            const isOther = there.size !== before.size || [...there].some((one) => !before.has(one))
            if (isOther || glances % glancesABeat === 0) yield* beat
          }
        })

      // In its own scope: after a failure this session must have ended before the next one asks for the same lock.
      const scope = yield* Scope.make()
      const first = yield* Effect.orDie(Scope.provide(session, scope))
      // A lost session is replaced. Until then other processes think that this one is dead; work that they take over is
      // fenced.
      yield* keep(first).pipe(
        Effect.onExit((exit) => Scope.close(scope, exit)),
        Effect.catchCause((cause) =>
          Effect.logError("The database no longer lists this process; it registers again", cause).pipe(
            Effect.andThen(Effect.sleep(glance)),
            Effect.andThen(Effect.scoped(Effect.flatMap(session, keep))),
            Effect.catchCause(() => Effect.void),
            Effect.forever,
          ),
        ),
        Effect.forkScoped,
      )
      return holder
    }),
  )
}

/**
 * One statement: renews this process's lease, deletes processes without lock or lease, and returns the others that are
 * alive.
 */
const presence = `WITH mine AS (INSERT INTO holders (id, lease_until)
    VALUES ($1, extract(epoch FROM clock_timestamp()) + $2::double precision)
    ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until RETURNING id),
  locks AS (SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND classid = ${presenceLock}::oid AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
  gone AS (DELETE FROM holders h WHERE h.id <> $1 AND (h.lease_until < extract(epoch FROM clock_timestamp())
    OR NOT EXISTS (SELECT 1 FROM locks l WHERE l.objid = (hashtext(h.id)::bigint & 4294967295)::oid)) RETURNING id)
  SELECT id FROM holders WHERE id <> $1 AND id NOT IN (SELECT id FROM gone)`

/** Whether the process that a column names is gone. */
export const isGone = (sql: SqlClient.SqlClient, column: string): Statement.Fragment => {
  const alive = sql.onDialectOrElse({
    pg: () => sql`h.lease_until >= extract(epoch FROM clock_timestamp())`,
    // There is one process, and it is this one.
    orElse: () => sql`1 = 1`,
  })
  return sql`NOT EXISTS (SELECT 1 FROM holders h WHERE h.id = ${sql.literal(column)} AND ${alive})`
}
