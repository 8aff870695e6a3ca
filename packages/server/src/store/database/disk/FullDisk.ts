/** Recognises a full disk in the errors of the drivers. */
import { type Cause, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { Bell } from "../../journal/signals/Bell.ts"

/**
 * SQLITE_FULL; and SQLITE_IOERR for a write, a sync or the log's index, which is how SQLite reports a quota or a limit.
 */
const ofSqlite = new Set([13, 778, 1034, 4874])
const ofSystem = new Set(["ENOSPC", "EDQUOT", "EFBIG"])
/** Postgres has its own code only for a full disk (53100). */
const ofPostgres = (code: string, message: string): boolean =>
  code === "53100" ||
  (/^(58030|XX000|53000)$/.test(code) && /No space left|quota exceeded|File too large/i.test(message))

interface Coded {
  readonly errcode?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly reason?: { readonly cause?: unknown }
  /** Set on a Cause. */
  readonly reasons?: unknown
}

/** Whether an error, or its cause, is a full disk. */
export const isDiskFull = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false
  const { cause, code, errcode, message, reason, reasons } = error as Coded
  if (Array.isArray(reasons)) return isOfFullDisk(error as Cause.Cause<unknown>)
  if (typeof errcode === "number" && ofSqlite.has(errcode)) return true
  if (typeof code === "string" && (ofSystem.has(code) || ofPostgres(code, String(message)))) return true
  return isDiskFull(reason?.cause) || isDiskFull(cause)
}

/** The same for the cause of a failed effect. */
export const isOfFullDisk = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    reason._tag === "Die" ? isDiskFull(reason.defect) : reason._tag === "Fail" && isDiskFull(reason.error),
  )

/** What the drivers report about a database's disk. */
export class DiskState {
  full = false
  readonly bell = new Bell()

  /** Every error of the driver passes through here. */
  heard<E>(error: E): E {
    if (!this.full && isDiskFull(error)) {
      this.full = true
      this.bell.ring()
    }
    return error
  }
}

const all = new WeakMap<SqlClient.SqlClient, DiskState>()
export const giveDisk = (sql: SqlClient.SqlClient, state: DiskState): void => void all.set(sql, state)
export const diskOf = (sql: SqlClient.SqlClient): DiskState => all.get(sql) ?? new DiskState()

/** For a record that is written beside an answer and does not change it: a full disk does not prevent the answer. */
export const skipIfDiskFull = <A, E, R>(what: string, write: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.catchCause(Effect.asVoid(write), (cause) =>
    isOfFullDisk(cause) ? Effect.logWarning(`The disk is full: ${what} was not recorded`) : Effect.failCause(cause),
  )

/** For a record that must be written: retries while the disk is full. */
export const retryUntilDiskHasRoom = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchCause(write, (cause) =>
    isOfFullDisk(cause)
      ? // A closing house does not wait for room.
        Effect.andThen(Effect.interruptible(Effect.sleep("1 second")), retryUntilDiskHasRoom(write))
      : Effect.failCause(cause),
  )
