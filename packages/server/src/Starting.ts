/** Who may work on a database, and who starts when. */
import { Context, Duration, Effect, Exit, Layer, Option, Scope } from "effect"
import { SqlClient, type SqlConnection } from "effect/sql"
import { Store } from "./store/database/Store.ts"
import { SharedDatabase } from "./store/Holder.ts"
import { refuse, type StartError } from "./store/StartError.ts"

/** Any number that is ours: the key of Postgres's advisory lock on the house. */
const houseLock = 7_461_002
/** Held by a house of a cluster while it starts: two that migrate or apply a file at once would trip over each other. */
const startLock = 7_461_004
/** How often the house looks whether the lock is still its own. */
const glance = Duration.seconds(1)

/**
 * One house a database: a second one would revoke the first one's admin and seal secrets under a key of its own. Houses of a
 * cluster stand side by side, but never beside one that believes itself alone, and they start one after the other.
 */
const alone = Effect.gen(function* () {
  const { dialect, where } = yield* Store
  if (dialect !== "postgres") return { over: Effect.void, stays: Effect.never }
  const isShared = yield* SharedDatabase
  const sql = yield* SqlClient.SqlClient
  const ask = (connection: SqlConnection.Connection, lock: string, key: number) =>
    Effect.map(connection.executeValues(`SELECT ${lock}($1)`, [key]), (rows) => rows[0]?.[0])
  // Held by a connection of its own for as long as the house stands, and let go by Postgres when that ends.
  const take = Effect.gen(function* () {
    const connection = yield* sql.reserve
    const taken = yield* ask(connection, isShared ? "pg_try_advisory_lock_shared" : "pg_try_advisory_lock", houseLock)
    return taken === true ? connection : undefined
  })
  const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
  const first = yield* Scope.provide(take, scope).pipe(
    Effect.mapError((error) => refuse(`${where} cannot be reached.`, error)),
  )
  if (first === undefined)
    return yield* refuse(
      `Another Stoa already runs on ${where}. Stop it first, ` +
        (isShared ? "since it runs alone (STOA_RUNNER=single)" : "or set DATABASE_URL to another database") +
        (isShared ? "." : ", or run all of them with STOA_RUNNER=cluster."),
    )
  const look = (connection: SqlConnection.Connection) =>
    connection.executeValues("SELECT 1", []).pipe(Effect.andThen(Effect.sleep(glance)), Effect.forever)
  /** A lost connection has let go of the lock: it is taken again, unless another house was quicker. */
  const again: Effect.Effect<never, StartError> = Effect.gen(function* () {
    yield* Effect.logWarning(`The house's lock on ${where} was lost with its connection; it is taken again`)
    const connection = yield* Effect.option(take)
    if (Option.isNone(connection)) return yield* Effect.sleep(glance)
    if (connection.value === undefined)
      return yield* refuse(`Another Stoa has taken over ${where}: this one had lost its connection, and ends.`)
    yield* Effect.ignore(look(connection.value))
  }).pipe(Effect.scoped, Effect.forever)
  const stays = Effect.ignore(look(first)).pipe(Effect.andThen(Scope.close(scope, Exit.void)), Effect.andThen(again))
  if (!isShared) return { over: Effect.void, stays }
  yield* Effect.orDie(ask(first, "pg_advisory_lock", startLock))
  return { over: Effect.ignore(ask(first, "pg_advisory_unlock", startLock)), stays }
})

export class Starting extends Context.Service<
  Starting,
  {
    /** The house stands: the next one may start. */
    readonly over: Effect.Effect<void>
    /** Keeps the house's lock, and fails when another house has it. */
    readonly stays: Effect.Effect<never, StartError>
  }
>()("server/Starting") {
  static readonly layer = Layer.effect(Starting, alone)
}
