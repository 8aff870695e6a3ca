/** Which processes may use a database, and in which order they start. */
import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient, type SqlConnection } from "effect/sql"
import { Store } from "../store/database/Store.ts"
import { SharedDatabase } from "../store/leases/Holder.ts"
import { refuse, type StartError } from "../store/StartError.ts"

/** An arbitrary number of ours: the key of Postgres's advisory lock on the house. */
const houseLock = 7_461_002
/** Held by a process of a cluster while it starts: two that migrate or apply a file at once would conflict. */
const startLock = 7_461_004

/** How often the process checks that it still has the lock. */
const glance = Duration.seconds(1)

/** A session of ours in Postgres. Its name includes its start time, because process ids are reused. */
interface Session {
  readonly connection: SqlConnection.Connection
  readonly name: string
}

const ofActivity = (pid: string) => `(SELECT pid || ' ' || backend_start FROM pg_stat_activity a WHERE a.pid = ${pid})`
const holders = `SELECT ${ofActivity("l.pid")}, l.pid FROM pg_locks l WHERE locktype = 'advisory' AND objid = $1 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * One house per database: a second one would revoke the first one's admin token and encrypt secrets with its own key.
 * Processes of a cluster share a database, but never with a house that is not in the cluster, and they start one after
 * the other.
 */
const alone = Effect.gen(function* () {
  const { dialect, where } = yield* Store
  if (dialect !== "postgres") return { over: Effect.void, kept: Effect.never }
  const isShared = yield* SharedDatabase
  const sql = yield* SqlClient.SqlClient
  const tryLock = isShared ? "pg_try_advisory_lock_shared" : "pg_try_advisory_lock"

  // Held by a separate connection while the house runs; Postgres releases it when that ends.
  const take = Effect.gen(function* () {
    const connection = yield* sql.reserve
    const [row] = yield* connection.executeValues(`SELECT ${ofActivity("pg_backend_pid()")}, ${tryLock}($1)`, [
      houseLock,
    ])
    return { connection, name: String(row?.[0]), isTaken: row?.[1] === true }
  })
  const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
  const first = yield* Effect.mapError(Scope.provide(take, scope), (error) =>
    refuse(`${where} cannot be reached.`, error),
  )
  if (!first.isTaken)
    return yield* refuse(
      `Another Stoa already runs on ${where}. Stop it first, ` +
        (isShared ? "since it runs alone (STOA_RUNNER=single)" : "or set DATABASE_URL to another database") +
        (isShared ? "." : ", or run all of them with STOA_RUNNER=cluster."),
    )

  /** While the session lives, it has the lock. */
  const watch = ({ connection }: Session) =>
    connection.executeValues("SELECT 1", []).pipe(Effect.andThen(Effect.sleep(glance)), Effect.forever, Effect.ignore)

  /**
   * Whether another house has the lock. After a network failure an old session of ours may still have it: then it is
   * terminated.
   */
  const isOthers = Effect.fnUntraced(function* ({ connection }: Session, ours: ReadonlySet<string>) {
    let others = false
    for (const [name, pid] of yield* connection.executeValues(holders, [houseLock]))
      if (ours.has(String(name))) yield* connection.executeValues("SELECT pg_terminate_backend($1)", [pid])
      else others = true
    return others
  })

  /** Takes the lock again after a session was lost, unless another house was quicker. */
  const retake = Effect.fnUntraced(function* (ours: Set<string>) {
    const next = yield* take
    if (next.isTaken) {
      ours.add(next.name)
      yield* Effect.logInfo("The house holds its lock on the database again")
      return yield* watch(next)
    }
    if (yield* isOthers(next, ours))
      return yield* refuse(`Another Stoa has taken over ${where}: this one had lost its connection, and ends.`)
  })

  const kept: Effect.Effect<never, StartError> = Effect.gen(function* () {
    yield* watch(first)
    yield* Scope.close(scope, Exit.void)
    const ours = new Set([first.name])
    while (true) {
      yield* Effect.logWarning(
        "The connection that held the house's lock on the database was lost; trying to take it again",
      )
      yield* Effect.catchTag(Effect.scoped(retake(ours)), "SqlError", () => Effect.void)
      yield* Effect.sleep(glance)
    }
  })
  if (!isShared) return { over: Effect.void, kept }
  const ask = (lock: string) => Effect.orDie(first.connection.executeValues(`SELECT ${lock}($1)`, [startLock]))
  yield* ask("pg_advisory_lock")
  return { over: Effect.asVoid(ask("pg_advisory_unlock")), kept }
})

export class Starting extends Context.Service<
  Starting,
  {
    /** The house has started: the next one may start. */
    readonly over: Effect.Effect<void>
    /** Keeps the house's lock on the database, and fails when another house has it. */
    readonly kept: Effect.Effect<never, StartError>
  }
>()("server/Starting") {
  static readonly layer = Layer.effect(Starting, alone)
}
