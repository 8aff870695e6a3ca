/** Who may work on a database, and who starts when. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Store } from "./store/database/Store.ts"
import { SharedDatabase } from "./store/Holder.ts"
import { refuse } from "./store/StartError.ts"

/** Any number that is ours: the key of Postgres's advisory lock on the house. */
const houseLock = 7_461_002
/** Held by a house of a cluster while it starts: two that migrate or apply a file at once would trip over each other. */
const startLock = 7_461_004

/**
 * One house a database: a second one would revoke the first one's admin and seal secrets under a key of its own. Houses of a
 * cluster stand side by side, but never beside one that believes itself alone, and they start one after the other.
 */
const alone = Effect.gen(function* () {
  const { dialect, where } = yield* Store
  if (dialect !== "postgres") return { over: Effect.void }
  const isShared = yield* SharedDatabase
  const sql = yield* SqlClient.SqlClient
  // Held by a connection of its own for as long as the house stands, and let go by Postgres when that ends.
  const connection = yield* Effect.mapError(sql.reserve, (error) => refuse(`${where} cannot be reached.`, error))
  const ask = (lock: string, key: number) =>
    Effect.map(Effect.orDie(connection.executeValues(`SELECT ${lock}($1)`, [key])), (rows) => rows[0]?.[0])
  if ((yield* ask(isShared ? "pg_try_advisory_lock_shared" : "pg_try_advisory_lock", houseLock)) !== true)
    return yield* refuse(
      `Another Stoa already runs on ${where}. Stop it first, ` +
        (isShared ? "since it runs alone (STOA_RUNNER=single)" : "or set DATABASE_URL to another database") +
        (isShared ? "." : ", or run all of them with STOA_RUNNER=cluster."),
    )
  if (!isShared) return { over: Effect.void }
  yield* ask("pg_advisory_lock", startLock)
  return { over: Effect.asVoid(ask("pg_advisory_unlock", startLock)) }
})

export class Starting extends Context.Service<
  Starting,
  {
    /** The house stands: the next one may start. */
    readonly over: Effect.Effect<void>
  }
>()("server/Starting") {
  static readonly layer = Layer.effect(Starting, alone)
}
