/** The data folder: one process at a time, and never somebody else's folder. */
import * as fs from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Folder } from "../../src/store/Folder.ts"
import { spawned } from "./crash/crashProcess.ts"
import { opened, tempFolder } from "../stores.ts"

const own = (path: string) => Effect.scoped(Effect.provide(Folder, Layer.fresh(Folder.layer(path))))
const refusal = (path: string) => Effect.map(Effect.flip(own(path)), (error) => error)

describe("data folder", () => {
  it.live("S3-72 a second process is refused at once and told the owner's pid; kill -9 frees the folder", () =>
    Effect.gen(function* () {
      const path = join(yield* tempFolder, "data")
      const first = yield* spawned(new URL("./folderOwner.ts", import.meta.url), [path])
      assert.strictEqual(yield* first.line, `owns ${path}`)
      const second = yield* spawned(new URL("./folderOwner.ts", import.meta.url), [path])
      assert.include(yield* second.line, `Another Stoa (process ${first.pid}) already runs on ${path}`)
      assert.include((yield* refusal(path)).message, `(process ${first.pid})`)
      yield* first.kill
      assert.isTrue(fs.existsSync(join(path, "pid")), "a killed owner leaves its pid behind")
      const third = yield* spawned(new URL("./folderOwner.ts", import.meta.url), [path])
      assert.strictEqual(yield* third.line, `owns ${path}`)
      assert.include((yield* refusal(path)).message, `(process ${third.pid})`)
    }),
  )

  it.live("a second opening in the same process is refused too, and a closed one is free", () =>
    Effect.gen(function* () {
      const path = join(yield* tempFolder, "data")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* opened(Folder.layer(path))
          const error = yield* refusal(path)
          assert.include(error.message, `(process ${process.pid})`)
          assert.strictEqual(error.exitCode, 2)
        }),
      )
      yield* own(path)
    }),
  )

  it.live("is made with mode 700, as is an empty folder that was there", () =>
    Effect.gen(function* () {
      const folder = yield* tempFolder
      yield* own(join(folder, "new"))
      fs.mkdirSync(join(folder, "empty"))
      fs.chmodSync(join(folder, "empty"), 0o755)
      yield* own(join(folder, "empty"))
      for (const name of ["new", "empty"]) assert.strictEqual(fs.statSync(join(folder, name)).mode & 0o777, 0o700)
    }),
  )

  it.live("a foreign folder is refused and left as it was", () =>
    Effect.gen(function* () {
      const path = yield* tempFolder
      fs.writeFileSync(join(path, "thesis.tex"), "years of work")
      assert.include((yield* refusal(path)).message, "is not a Stoa data folder")
      assert.deepStrictEqual(fs.readdirSync(path), ["thesis.tex"])
    }),
  )

  it.live("a folder that cannot be used is refused with the reason", () =>
    Effect.gen(function* () {
      const folder = yield* tempFolder
      fs.writeFileSync(join(folder, "file"), "")
      for (const path of [join(folder, "file"), join(folder, "file", "inside")]) {
        const error = yield* refusal(path)
        assert.match(
          error.message,
          /cannot be used: E(EXIST|NOTDIR).*Check its owner and permissions, or set STOA_DATA/,
        )
      }
      const spoilt = join(folder, "spoilt")
      yield* own(spoilt)
      fs.writeFileSync(join(spoilt, "lock"), "not a database, and long enough to be taken for one ".repeat(100))
      assert.include((yield* refusal(spoilt)).message, "cannot be used: file is not a database")
    }),
  )

  it.live("a secret is made once, with mode 600, and an empty one is not taken for a secret", () =>
    Effect.gen(function* () {
      const path = join(yield* tempFolder, "data")
      const keep = Effect.scoped(
        Effect.provide(
          Effect.flatMap(Folder, (folder) => folder.keep("secret.key")),
          Layer.fresh(Folder.layer(path)),
        ),
      )
      const first = yield* keep
      const again = yield* keep
      assert.isTrue(first.made)
      assert.isFalse(again.made)
      assert.strictEqual(Redacted.value(again.value), Redacted.value(first.value))
      assert.strictEqual(fs.statSync(join(path, "secret.key")).mode & 0o777, 0o600)
      fs.writeFileSync(join(path, "secret.key"), "")
      assert.include((yield* Effect.flip(keep)).message, "is empty or cut short")
    }),
  )

  it.live("no secret begins with a dash, which a command would take for a flag", () =>
    Effect.gen(function* () {
      const path = join(yield* tempFolder, "data")
      const made = yield* Effect.scoped(
        Effect.provide(
          Effect.flatMap(Folder, (folder) =>
            // One in 64 would.
            Effect.forEach(Array.from({ length: 600 }), (_, at) => folder.keep(`key-${at}`)),
          ),
          Layer.fresh(Folder.layer(path)),
        ),
      )
      assert.deepStrictEqual(
        made.filter(({ value }) => Redacted.value(value).startsWith("-")),
        [],
      )
    }),
  )

  it.live("a secret that is put in place of another leaves the other beside it", () =>
    Effect.gen(function* () {
      const path = join(yield* tempFolder, "data")
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const folder = yield* Folder
          const old = yield* folder.keep("secret.key")
          const aside = yield* folder.put("secret.key", Redacted.make("the key from the backup"))
          assert.strictEqual(fs.readFileSync(aside!, "utf8"), Redacted.value(old.value))
          assert.isUndefined(yield* folder.put("secret.key", Redacted.make("the key from the backup")))
          return Redacted.value((yield* folder.keep("secret.key")).value)
        }).pipe(Effect.provide(Layer.fresh(Folder.layer(path)))),
      )
      assert.strictEqual(before, "the key from the backup")
    }),
  )
})
