/** A process among several on one Postgres database: one failed look is not its end. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { migrations } from "../../src/Migrations.ts"
import { Store } from "../../src/store/database/Store.ts"
import { Holder, LeaseSeconds, SharedDatabase } from "../../src/store/leases/Holder.ts"
import { migrate } from "../../src/store/Schemas.ts"
import { quiet, tempDatabase, until } from "../stores.ts"

it.live("a look that is canceled is made again, by a session that has the lock", () =>
  Effect.gen(function* () {
    const { url } = yield* tempDatabase
    const other = yield* Layer.build(Store.layerPostgres(url))
    const store = Store.layerPostgres(url)
    const migrated = Layer.effectDiscard(
      migrate({ migrations, backup: () => Effect.die("a new database needs no backup") }),
    ).pipe(Layer.provideMerge(store))
    const shared = Layer.merge(Layer.succeed(SharedDatabase, true), Layer.succeed(LeaseSeconds, 2))
    const built = yield* Layer.build(
      Layer.fresh(Holder.layer.pipe(Layer.provideMerge(migrated), Layer.provideMerge(shared))),
    )
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // The table is taken away from the look until that has been canceled.
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE holders IN ACCESS EXCLUSIVE MODE`
          const waiting = sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()`
          yield* until(Effect.map(waiting, (rows) => rows.length > 0))
          for (const { pid } of yield* waiting) yield* sql`SELECT pg_cancel_backend(${pid})`
          yield* until(Effect.map(waiting, (rows) => rows.length === 0))
        }),
      )
      const left = Effect.map(
        sql<{ left: number }>`SELECT lease_until - extract(epoch FROM clock_timestamp()) AS "left" FROM holders`,
        ([row]) => row?.left ?? 0,
      )
      const before = yield* sql<{ leaseUntil: number }>`SELECT lease_until FROM holders`
      yield* until(
        Effect.map(
          sql<{ leaseUntil: number }>`SELECT lease_until FROM holders`,
          (now) => Number(now[0]?.leaseUntil) > Number(before[0]?.leaseUntil),
        ),
      )
      assert.isAbove(yield* left, 0)
      const locks = yield* sql`SELECT granted FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      assert.deepStrictEqual(locks, [{ granted: true }])
    }).pipe(Effect.provide(other))
    return built
  }).pipe(Effect.scoped, Effect.provide(quiet)),
)
