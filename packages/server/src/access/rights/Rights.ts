/**
 * The epoch: a number that grows with every change of rights, in the same transaction (S4-104). Every process of a
 * cluster reads it.
 */
import { randomInt } from "node:crypto"
import { Context, Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "../../store/journal/Bell.ts"
import { repeatOnBell } from "../../store/journal/Following.ts"
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
  // By a step that nobody can foresee: what was remembered under a number that was rolled back fits no later one.
  yield* Effect.orDie(sql`UPDATE access_epoch SET epoch = epoch + ${randomInt(1, largestStep)}`)
  // Forgotten once it is committed: whoever asked before that was answered before it. A commit that failed, too: it may be
  // in the database all the same.
  yield* Effect.orDie(sql.afterCommit(Effect.sync(forget)))
  transaction.undo.push(forget)
})

const read = (sql: SqlClient.SqlClient) =>
  Effect.map(Effect.orDie(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`), (rows) => rows[0]!.epoch)

/** Whoever asks while one question is on its way shares the next one: no answer is older than its question. */
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

/** The epoch of rights as it stands when it is asked for; where it is known, it is at hand. */
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
          // What was changed while it was read is read again; and what a transaction sees of itself, others do not.
          const isInside = Context.getOrUndefined(context, sql.transactionService) !== undefined
          if (there.changes === changes && !isInside) there.epoch = epoch
          return epoch
        }),
      )
    },
  })

/** Rings when rights have changed; on Postgres when anything has, for another process may have changed them. */
export const rightsBell: Effect.Effect<Bell, never, SqlClient.SqlClient | Journal> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bell } = yield* Journal
  return sql.onDialectOrElse({ pg: () => bell, orElse: () => knownOf(sql).bell })
})

/** How high it stands now. */
export const rightsEpoch: Effect.Effect<() => Effect.Effect<number>, never, SqlClient.SqlClient> = Effect.map(
  SqlClient.SqlClient,
  epochOf,
)

/** Hears of every change of rights, for as long as the scope lives; while nobody listens, nothing is asked. */
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
