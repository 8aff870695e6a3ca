/** Files: bounded, named by what is in them, kept once. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import type { FileId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Files, largestFile } from "../../src/store/Files.ts"
import { ground, stores } from "../stores.ts"

for (const [name, store] of stores)
  layer(ground(store))(`files on ${name}`, (it) => {
    it.effect("the same bytes have one name and are kept once, and come back as they were", () =>
      Effect.gen(function* () {
        const files = yield* Files
        const bytes = new Uint8Array([0, 1, 254, 255, 0])
        const first = yield* files.put(bytes, "image/png")
        const again = yield* files.put(bytes.slice(), "image/png")
        assert.strictEqual(first.id, `fil_${createHash("sha256").update(bytes).digest("hex")}`)
        assert.deepStrictEqual(again, first)
        const sql = yield* SqlClient.SqlClient
        assert.lengthOf(yield* sql`SELECT id FROM files`, 1)
        const found = yield* files.get(first.id)
        assert.deepStrictEqual([...found.bytes], [...bytes])
        assert.deepStrictEqual(found.file, first)
        assert.strictEqual((yield* files.put(new Uint8Array(), "text/plain")).size, 0)
      }),
    )

    it.effect("the largest is taken, one byte more is refused and nothing is kept of it", () =>
      Effect.gen(function* () {
        const files = yield* Files
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM files`
        const refused = yield* files.put(new Uint8Array(largestFile + 1), "x/y").pipe(Effect.flip)
        assert.strictEqual(refused._tag, "TooLarge")
        assert.lengthOf(yield* sql`SELECT id FROM files`, 0)
        const kept = yield* files.put(new Uint8Array(largestFile), "x/y")
        assert.strictEqual((yield* files.get(kept.id)).bytes.length, largestFile)
      }),
    )

    it.effect("an unknown file is missing", () =>
      Effect.gen(function* () {
        const error = yield* (yield* Files).get(`fil_${"0".repeat(64)}` as FileId).pipe(Effect.flip)
        assert.strictEqual(error._tag, "Missing")
      }),
    )
  })
