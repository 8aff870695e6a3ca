/**
 * This process as the owner of its running work: rows name it, and a lease says that it is alive. Another process never
 * takes work from a living one, and takes over from a dead one when its lease has expired.
 */
import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { newId } from "./journal/Correlation.ts"

/** Whether several processes may use one Postgres database. Otherwise the house's lock leaves one, as the folder's does. */
export const SharedDatabase = Context.Reference<boolean>("server/store/SharedDatabase", { defaultValue: () => false })

/** Long enough for a busy process, short enough for whoever waits for what a dead one ran. */
export const LeaseSeconds = Context.Reference<number>("server/store/LeaseSeconds", { defaultValue: () => 15 })

const forEver = 1e15

export class Holder extends Context.Service<
  Holder,
  {
    readonly id: string
    /** Done after each renewal of the lease, where others share the database, for as long as the scope lives. */
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
      // Whoever held anything before is gone: the lock says so.
      if (!isShared) yield* Effect.orDie(sql`DELETE FROM holders`)
      yield* Effect.orDie(sql`INSERT INTO holders ${sql.insert({ id, leaseUntil: forEver })}`)
      yield* Effect.addFinalizer(() => Effect.ignore(sql`DELETE FROM holders WHERE id = ${id}`))
      const works = new Set<Effect.Effect<void>>()
      // By the database's clock, which all processes share.
      const renew = Effect.orDie(
        sql`UPDATE holders SET lease_until = extract(epoch FROM clock_timestamp()) + ${seconds} WHERE id = ${id}`,
      )
      const beat = Effect.gen(function* () {
        yield* renew
        for (const work of works) yield* work
      })
      if (isShared) {
        yield* renew
        yield* Effect.andThen(Effect.sleep(Duration.seconds(seconds / 3)), beat).pipe(
          Effect.catchCause((cause) =>
            Effect.logError("Renewing the lease of this process failed; it is tried again", cause),
          ),
          Effect.forever,
          Effect.forkScoped,
        )
      }
      return Holder.of({
        id,
        eachBeat: (work) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => works.add(work)),
              () => Effect.sync(() => works.delete(work)),
            ),
          ),
      })
    }),
  )
}

/** Whether the process that a column names is gone. */
export const isGone = (sql: SqlClient.SqlClient, column: string): Statement.Fragment => {
  const alive = sql.onDialectOrElse({
    pg: () => sql`h.lease_until >= extract(epoch FROM clock_timestamp())`,
    // There is one process, and it is this one.
    orElse: () => sql`1 = 1`,
  })
  return sql`NOT EXISTS (SELECT 1 FROM holders h WHERE h.id = ${sql.literal(column)} AND ${alive})`
}
