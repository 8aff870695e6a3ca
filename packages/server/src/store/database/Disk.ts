/**
 * Whether the disk under the database takes writes. Nobody asks beforehand: a write that fails for want of room says so,
 * and a small write, tried every second from then on, says when there is room again. Reads go on meanwhile.
 */
// edge: asks the file system how much room there is.
import { statfsSync } from "node:fs"
import { dirname } from "node:path"
import { type Cause, Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "../journal/Bell.ts"
import { Store } from "./Store.ts"

/** SQLITE_FULL; and SQLITE_IOERR for a write, a sync or the log's index, which is how SQLite tells of a quota or a limit. */
const ofSqlite = new Set([13, 778, 1034, 4874])
const ofSystem = new Set(["ENOSPC", "EDQUOT", "EFBIG"])
/** Postgres knows only a full disk by a code of its own (53100). */
const ofPostgres = (code: string, message: string): boolean =>
  code === "53100" ||
  (/^(58030|XX000|53000)$/.test(code) && /No space left|quota exceeded|File too large/i.test(message))

interface Coded {
  readonly errcode?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly reason?: { readonly cause?: unknown }
  /** Of a Cause. */
  readonly reasons?: unknown
}

/** Whether an error, or what caused it, is that there was no room. */
export const isDiskFull = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false
  const { cause, code, errcode, message, reason, reasons } = error as Coded
  if (Array.isArray(reasons)) return isOfFullDisk(error as Cause.Cause<unknown>)
  if (typeof errcode === "number" && ofSqlite.has(errcode)) return true
  if (typeof code === "string" && (ofSystem.has(code) || ofPostgres(code, String(message)))) return true
  return isDiskFull(reason?.cause) || isDiskFull(cause)
}

/** The same of whatever ended an effect. */
export const isOfFullDisk = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    reason._tag === "Die" ? isDiskFull(reason.defect) : reason._tag === "Fail" && isDiskFull(reason.error),
  )

/** What the drivers tell of a database's disk. */
export class DiskState {
  full = false
  readonly bell = new Bell()

  /** Every error passes here on its way up. */
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

/** Something that is written down beside an answer and does not change it: a full disk does not take the answer away. */
export const whereRoom = <A, E, R>(what: string, write: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.catchCause(Effect.asVoid(write), (cause) =>
    isOfFullDisk(cause) ? Effect.logWarning(`The disk is full: ${what} was not recorded`) : Effect.failCause(cause),
  )

/** A database that cannot grow by this much is as good as full: its log may still have room, and hide it. */
const least = 1024 * 1024

/** Bytes that a file in this folder may still take; a quota or a limit does not show here. */
export const roomAt = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

export class Disk extends Context.Service<Disk, { readonly isFull: () => boolean }>()("server/store/Disk") {
  static readonly layer = Layer.effect(
    Disk,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const state = all.get(sql) ?? new DiskState()
      // Postgres updates a row in place; a table that grows needs room in any case.
      const grow = sql.onDialectOrElse({
        pg: () =>
          Effect.asVoid(sql`CREATE TEMP TABLE stoa_room ON COMMIT DROP AS
            SELECT md5(n::text) AS filler FROM generate_series(1, 5000) AS n`),
        orElse: () => Effect.void,
      })
      const { dialect, where } = yield* Store
      const isTight = () => dialect === "sqlite" && where !== ":memory:" && roomAt(dirname(where)) < least
      const write = Effect.andThen(sql`UPDATE journal_floor SET cursor = cursor`, grow).pipe(
        sql.withTransaction,
        Effect.andThen(Effect.suspend(() => (isTight() ? Effect.fail("tight") : Effect.void))),
      )
      yield* Effect.gen(function* () {
        const heard = state.bell.rung
        if (!state.full) yield* state.bell.waitPast(heard)
        yield* Effect.logError("The disk is full: the house reads on, and answers writes with 507. Make room.")
        yield* Effect.retry(Effect.delay(write, "1 second"), Schedule.forever)
        state.full = false
        yield* Effect.logWarning("The disk has room again")
      }).pipe(Effect.forever, Effect.forkScoped)
      return Disk.of({ isFull: () => state.full })
    }),
  )
}
