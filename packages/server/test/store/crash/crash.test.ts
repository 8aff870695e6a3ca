/** kill -9 in the middle of writing: what was acknowledged is there with its event, and nothing is there by half. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { GroupCommit } from "../../../src/store/database/sqlite/groupCommit.ts"
import { Store } from "../../../src/store/database/Store.ts"
import { crashing } from "./crashRounds.ts"
import { tempFolder } from "../../stores.ts"

crashing([40, 400, 150, 900])

describe("sqlite", () => {
  it.effect("writes ahead, and waits for the disk by itself", () =>
    Effect.gen(function* () {
      const folder = yield* tempFolder
      const settings = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return [yield* sql`PRAGMA synchronous`, yield* sql`PRAGMA journal_mode`, yield* sql`PRAGMA foreign_keys`]
      })
      assert.deepStrictEqual(yield* Effect.provide(settings, Store.layerSqlite(join(folder, "stoa.db"))), [
        [{ synchronous: 1 }],
        [{ journalMode: "wal" }],
        [{ foreignKeys: 1 }],
      ])
    }),
  )

  it.effect(
    "nobody is answered before a sync that began after its commit has ended; a sync that fails fails them",
    () =>
      Effect.gen(function* () {
        const said: Array<string> = []
        const syncs: Array<(cause: Error | null) => void> = []
        const group = new GroupCommit({
          begin: () => void said.push("begin"),
          commit: () => void said.push("commit"),
          rollback: () => void said.push("rollback"),
          exec: () => {},
          sync: (done) => void syncs.push(done),
          inTransaction: () => said.at(-1) === "begin",
          toError: (cause) => new Error(String(cause)) as never,
        })
        const write = (name: string) =>
          Effect.scoped(
            Effect.gen(function* () {
              const turn = yield* group.acquire((effect) => effect)
              yield* group.begin(turn)
              yield* group.commit(turn)
            }),
          ).pipe(
            Effect.exit,
            Effect.tap((exit) => Effect.sync(() => said.push(`${name} ${exit._tag}`))),
            Effect.forkChild({ startImmediately: true }),
          )
        const turns = Effect.forEach(Array.from({ length: 20 }), () => Effect.promise(() => new Promise(setImmediate)))
        const first = yield* write("first")
        yield* turns
        const second = yield* write("second")
        yield* turns
        const third = yield* write("third")
        yield* turns
        assert.deepStrictEqual(said, ["begin", "commit", "begin", "commit", "begin", "commit"])
        assert.strictEqual(syncs.length, 1)
        syncs[0]!(null)
        yield* Fiber.join(first)
        yield* turns
        assert.strictEqual(said.at(-1), "first Success")
        assert.strictEqual(syncs.length, 2)
        syncs[1]!(new Error("the disk is gone"))
        yield* Fiber.join(second)
        yield* Fiber.join(third)
        assert.deepStrictEqual(said.slice(-2).toSorted(), ["second Failure", "third Failure"])
      }),
  )
})
