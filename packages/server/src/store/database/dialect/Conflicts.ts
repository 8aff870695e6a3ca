/**
 * Conflicts of transactions. If two wait for each other, Postgres ends one of them (40P01); a serializable one may be
 * ended because another changed what it had read (40001). Either may simply run again. SQLite has only one writer.
 */
import { Cause, Effect, Random } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"

/** How often a transaction runs again, and the longest pause before it, which grows; the first time there is none. */
const maxRuns = 6
const longestPauseMs = 40

const conflicts = new WeakMap<object, SqlError.SqlError>()

export const isConflict = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "DeadlockError" || reason._tag === "SerializationError"

/** Every error of a statement of a transaction passes through here, so that no code inside can hide a conflict. */
export const hearConflict = (connection: SqlConnection.Connection, error: SqlError.SqlError): void => {
  if (isConflict(error)) conflicts.set(connection, error)
}

/** The conflict of a transaction that must not commit: whatever came after it was decided by a failed statement. */
export const conflictOf = (connection: object): SqlError.SqlError | undefined => conflicts.get(connection)

/**
 * Runs an outermost transaction again if it ended in a conflict. `begun` is told the connection of each attempt. A
 * savepoint must not be repeated by itself: after a conflict nothing of its transaction is left.
 */
export const repeatConflicting = <A, E, R>(
  attempt: (begun: (connection: object) => void) => Effect.Effect<A, E, R>,
  run = 1,
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let connection: object | undefined
    return Effect.catchCause(
      attempt((given) => void (connection = given)),
      (cause) => {
        const conflict = connection === undefined ? undefined : conflictOf(connection)
        if (conflict === undefined || run >= maxRuns || Cause.hasInterrupts(cause)) return Effect.failCause(cause)
        const pause = Effect.flatMap(Random.nextIntBetween(1, longestPauseMs * (run - 1)), (millis) =>
          Effect.sleep(millis),
        )
        return Effect.logWarning("A transaction was in conflict with another one and runs again", conflict).pipe(
          Effect.andThen(run === 1 ? Effect.void : pause),
          Effect.andThen(repeatConflicting(attempt, run + 1)),
        )
      },
    )
  })
