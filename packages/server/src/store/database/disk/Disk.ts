/**
 * Whether the disk of the database accepts writes. Nothing checks beforehand: a write that fails for lack of space
 * reports it, and from then on a small write every second shows when there is space again. Reads still work.
 */
// edge: asks the file system how much room there is.
import { statfsSync } from "node:fs"
import { dirname } from "node:path"
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { diskOf } from "./FullDisk.ts"
import { Store } from "../Store.ts"

/** A database that cannot grow by this much counts as full: its log may still have room, which would hide it. */
const least = 1024 * 1024

/** Free bytes for a file in this folder. A quota or a limit does not show here. */
export const roomAt = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

export class Disk extends Context.Service<Disk, { readonly isFull: () => boolean }>()("server/store/Disk") {
  static readonly layer = Layer.effect(
    Disk,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const state = diskOf(sql)
      // A row may be updated in place: only a new table needs room in any case.
      const grow = sql.onDialectOrElse({
        pg: () =>
          Effect.andThen(
            sql`UPDATE journal_floor SET cursor = cursor`,
            sql`CREATE TEMP TABLE stoa_room ON COMMIT DROP AS
              SELECT md5(n::text) AS filler FROM generate_series(1, 5000) AS n`,
          ),
        // SQLite writes nothing for an update that changes nothing.
        orElse: () => Effect.andThen(sql`CREATE TABLE stoa_room (filler TEXT)`, sql`DROP TABLE stoa_room`),
      })
      const { dialect, where } = yield* Store
      const isTight = () => dialect === "sqlite" && where !== ":memory:" && roomAt(dirname(where)) < least
      const write = grow.pipe(
        sql.withTransaction,
        Effect.andThen(Effect.suspend(() => (isTight() ? Effect.fail("tight") : Effect.void))),
      )
      yield* Effect.gen(function* () {
        const heard = state.bell.rung
        if (!state.full) yield* state.bell.waitPast(heard)
        yield* Effect.logError("The disk is full: reads still work, writes are answered with 507. Make room.")
        yield* Effect.retry(Effect.delay(write, "1 second"), Schedule.forever)
        state.full = false
        yield* Effect.logWarning("The disk has room again")
      }).pipe(Effect.forever, Effect.forkScoped)
      return Disk.of({ isFull: () => state.full })
    }),
  )
}
