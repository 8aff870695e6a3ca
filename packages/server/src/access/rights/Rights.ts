/**
 * The epoch: a number that grows with every change of rights, in the same transaction (S4-104). Every process of a
 * cluster reads it.
 */
import { randomInt } from "node:crypto"
import { Context, Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "../../store/journal/signals/Bell.ts"
import { repeatOnBell } from "../../store/journal/readers/Following.ts"
import { Journal, Transaction } from "../../store/journal/Journal.ts"

const largestStep = 2 ** 20

/** SQLite has one process, which knows what it has committed; on Postgres another may have changed it. */
const known = new WeakMap<SqlClient.SqlClient, { changes: number; epoch: number | undefined; readonly bell: Bell }>()
const knownOf = (sql: SqlClient.SqlClient) => {
  const there = known.get(sql) ?? { changes: 0, epoch: undefined, bell: new Bell() }
  known.set(sql, there)
  return there
}

export const rightsChanged: Effect.Effect<void, never, SqlClient.SqlClient | Transaction> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const transaction = yield* Transaction
  const forget = () => {
    const there = knownOf(sql)
    there.changes++
    there.epoch = undefined
    there.bell.ring()
  }
  // By a random step: a value cached under an epoch that was rolled back matches no later epoch.
  yield* Effect.orDie(sql`UPDATE access_epoch SET epoch = epoch + ${randomInt(1, largestStep)}`)
  // Forgotten after the commit: earlier requests got earlier answers. Also after a failed commit, because the change
  // may be in the database all the same.
  yield* Effect.orDie(sql.afterCommit(Effect.sync(forget)))
  transaction.undo.push(forget)
})

const read = (sql: SqlClient.SqlClient) =>
  Effect.map(Effect.orDie(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`), (rows) => rows[0]!.epoch)

/** Requests that arrive while a query is running share the next one: no answer is older than its request. */
const shared = <A>(ask: Effect.Effect<A>): Effect.Effect<A> => {
  let next: Deferred.Deferred<A> | undefined
  let asking = false
  const askAll: Effect.Effect<void> = Effect.suspend(() => {
    const those = next
    next = undefined
    if (those === undefined) {
      asking = false
      return Effect.void
    }
    return Effect.flatMap(Effect.exit(ask), (exit) => {
      Deferred.doneUnsafe(those, exit)
      return askAll
    })
  })
  return Effect.suspend(() => {
    const mine = (next ??= Deferred.makeUnsafe<A>())
    if (!asking) {
      asking = true
      Effect.runFork(askAll)
    }
    return Deferred.await(mine)
  })
}

/** The present epoch; if it is known, without a fiber. */
const epochOf = (sql: SqlClient.SqlClient): (() => Effect.Effect<number>) =>
  sql.onDialectOrElse({
    pg: () => {
      const asked = shared(read(sql))
      return () => asked
    },
    orElse: () => () => {
      const there = knownOf(sql)
      if (there.epoch !== undefined) return Effect.succeed(there.epoch)
      const { changes } = there
      return Effect.contextWith((context: Context.Context<never>) =>
        Effect.map(read(sql), (epoch) => {
          // Not cached if something changed during the read, or inside a transaction, whose changes others do not see.
          const isInside = Context.getOrUndefined(context, sql.transactionService) !== undefined
          if (there.changes === changes && !isInside) there.epoch = epoch
          return epoch
        }),
      )
    },
  })

/**
 * Rings when rights have changed; on Postgres when anything has changed, because another process may have changed
 * rights.
 */
export const rightsBell: Effect.Effect<Bell, never, SqlClient.SqlClient | Journal> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bell } = yield* Journal
  return sql.onDialectOrElse({ pg: () => bell, orElse: () => knownOf(sql).bell })
})

/** The present epoch. */
export const rightsEpoch: Effect.Effect<() => Effect.Effect<number>, never, SqlClient.SqlClient> = Effect.map(
  SqlClient.SqlClient,
  epochOf,
)

/** Reacts to every change of rights until the scope ends. While nobody listens, nothing is queried. */
export const followRights = Effect.fnUntraced(function* (follower: {
  readonly name: string
  readonly wanted: () => boolean
  readonly hear: Effect.Effect<void>
}) {
  const bell = yield* rightsBell
  const epochNow = yield* rightsEpoch
  let epoch = yield* epochNow()
  const look = Effect.gen(function* () {
    if (!follower.wanted()) return
    const now = yield* epochNow()
    if (now === epoch) return
    yield* follower.hear
    epoch = now
  })
  yield* repeatOnBell(follower.name, bell, look)
})
