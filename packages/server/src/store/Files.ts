/** Bounded blobs, named by their digest. They live in the database, so that a backup and a cluster have them too. */
import { createHash } from "node:crypto"
import { File, type FileId, Missing, TooLarge } from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

export const largestFile = 8 * 1024 * 1024

const decode = Schema.decodeUnknownSync(File)

export class Files extends Context.Service<
  Files,
  {
    /** The same bytes give the same id and are kept once, under the media type they first came with. */
    readonly put: (bytes: Uint8Array, mediaType: string) => Effect.Effect<File, TooLarge>
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
        const createdAt = DateTime.formatIso(yield* DateTime.now)
        yield* sql`INSERT INTO files ${sql.insert({ id, size: bytes.length, mediaType, bytes, createdAt })}
          ON CONFLICT (id) DO NOTHING`.pipe(Effect.orDie)
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

      return Files.of({ put, get })
    }),
  )
}
