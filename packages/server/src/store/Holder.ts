/**
 * This process as the owner of its running work: rows name it, and `holders` says that it is alive. Where several processes
 * share a Postgres database, each holds an advisory lock in a session of its own, which Postgres lets go of the moment the
 * process dies; whoever finds it free strikes the dead one off. For one that is frozen or cut off, and so keeps its session, a
 * lease that is no longer renewed says the same.
 */
import { Context, Duration, Effect, Layer, Scope } from "effect"
import { SqlClient, type SqlConnection, type Statement } from "effect/sql"
import { newId } from "./journal/Correlation.ts"

/** Whether several processes may use one Postgres database. Otherwise the house's lock leaves one, as the folder's does. */
export const SharedDatabase = Context.Reference<boolean>("server/store/SharedDatabase", { defaultValue: () => false })

/** Long enough for a busy process, short enough for whoever waits for what a frozen one ran. */
export const LeaseSeconds = Context.Reference<number>("server/store/LeaseSeconds", { defaultValue: () => 9 })

const forEver = 1e15
/** How often a process looks who is there: a dead one is missed this much later. */
const glance = Duration.millis(500)
/** Work of a beat is done this often even if nobody has come or gone. */
const glancesABeat = 10
/** Any number that is ours: the first key of the advisory locks of processes. */
const presenceLock = 7_461_003

export class Holder extends Context.Service<
  Holder,
  {
    readonly id: string
    /** How many processes are alive, this one among them, as it last looked. */
    readonly houses: () => number
    /** Done when somebody has come or gone, and now and then, where others share the database, for as long as the scope lives. */
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
        // Whoever held anything before is gone: the lock says so.
        yield* Effect.orDie(sql`DELETE FROM holders`)
        yield* Effect.orDie(sql`INSERT INTO holders ${sql.insert({ id, leaseUntil: forEver })}`)
        return holder
      }

      /** By the session that has the lock, so that one which is lost is noticed; by the database's clock, which all share. */
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
        // Let go of with the session: the connection itself goes back to the pool, and would keep it.
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

      // Of its own scope: after a failure it must be over before the next one asks for the same lock.
      const scope = yield* Scope.make()
      const first = yield* Effect.orDie(Scope.provide(session, scope))
      // A lost session is made again: until then others take this process for dead, and what they take over is fenced.
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

/** In one statement: I am here; who has let go of its lock, or not renewed its lease, is struck off; and who is there. */
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
