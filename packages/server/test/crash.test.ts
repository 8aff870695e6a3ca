/** kill -9 in the middle of writing: what was acknowledged is there with its event, and nothing is there by half. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Store } from "../src/store/Store.ts"
import { crashing } from "./crashRounds.ts"
import { tempFolder } from "./stores.ts"

crashing([40, 400, 150, 900])

describe("sqlite", () => {
  it.effect("syncs each commit, and writes ahead", () =>
    Effect.gen(function* () {
      const folder = yield* tempFolder
      const settings = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return [yield* sql`PRAGMA synchronous`, yield* sql`PRAGMA journal_mode`, yield* sql`PRAGMA foreign_keys`]
      })
      assert.deepStrictEqual(yield* Effect.provide(settings, Store.layerSqlite(join(folder, "stoa.db"))), [
        [{ synchronous: 2 }],
        [{ journalMode: "wal" }],
        [{ foreignKeys: 1 }],
      ])
    }),
  )
})
