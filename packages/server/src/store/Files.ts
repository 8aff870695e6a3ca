/**
 * Blobs of limited size, named by their digest. They are in the database, so that backups and a cluster have them too.
 */
import { createHash } from "node:crypto"
import { File, type FileId, Missing, TooLarge } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

export const largestFile = 8 * 1024 * 1024

const decode = Schema.decodeUnknownSync(File)

export class Files extends Context.Service<
  Files,
  {
    /** The same bytes give the same id and are stored once, with the media type of the first put. */
    readonly put: (bytes: Uint8Array, mediaType: string) => Effect.Effect<File, TooLarge>
    /**
     * Removes those of the files that were last put before `before`, and returns how many. The caller makes sure that
     * nothing refers to them.
     */
    readonly remove: (ids: ReadonlyArray<string>, before: string) => Effect.Effect<number>
    readonly get: (id: FileId) => Effect.Effect<{ readonly file: File; readonly bytes: Uint8Array }, Missing>
  }
>()("server/store/Files") {
  static readonly layer = Layer.effect(
    Files,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const put: Files["Service"]["put"] = Effect.fn("Files.put")(function* (bytes, mediaType) {
        if (bytes.length > largestFile)
          return yield* new TooLarge({ noun: "file", size: bytes.length, limit: largestFile })
        const id = `fil_${createHash("sha256").update(bytes).digest("hex")}`
        const now = yield* DateTime.now
        const createdAt = DateTime.formatIso(now)
        const hourAgo = DateTime.formatIso(DateTime.subtract(now, { hours: 1 }))
        // Putting an old file makes it new again: it may be about to be removed, and the caller has not referred to it
        // yet.
        yield* sql`INSERT INTO files ${sql.insert({ id, size: bytes.length, mediaType, bytes, createdAt })}
          ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at WHERE files.created_at < ${hourAgo}`.pipe(
          Effect.orDie,
        )
        const rows = yield* sql`SELECT id, size, media_type, created_at FROM files WHERE id = ${id}`.pipe(Effect.orDie)
        return decode(rows[0])
      })

      const get: Files["Service"]["get"] = Effect.fn("Files.get")(function* (id) {
        const rows = yield* sql<{ bytes: Uint8Array }>`SELECT id, size, media_type, bytes, created_at FROM files
          WHERE id = ${id}`.pipe(Effect.orDie)
        const row = rows[0]
        if (row === undefined) return yield* new Missing({ noun: "file", ref: id })
        return { file: decode(row), bytes: row.bytes }
      })

      const remove: Files["Service"]["remove"] = Effect.fn("Files.remove")(function* (ids, before) {
        if (ids.length === 0) return 0
        return (yield* sql`DELETE FROM files WHERE ${sql.in("id", ids)} AND created_at < ${before} RETURNING id`).length
      }, Effect.orDie)

      return Files.of({ put, get, remove })
    }),
  )
}
