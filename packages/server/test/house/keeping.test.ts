/** What keeps a house in order by itself: retention on its timer, one house a database, an end to open streams. */
import { join } from "node:path"
import { assert, it, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { DateTime, Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerHouse } from "../../src/House.ts"
import { keysOf } from "../../src/start/Opening.ts"
import { layerLog } from "../../src/Log.ts"
import { Settings } from "../../src/Settings.ts"
import { Folder } from "../../src/store/Folder.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { Timers } from "../../src/store/journal/Timers.ts"
import { ask, Guest, house } from "../house.ts"
import { tempDatabase, tempFolder } from "../stores.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`keeping on ${store}`, (test) => {
    test.effect("retention runs when its timer fires, removes what is past its days, and sets the next hour", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const timers = yield* Timers
        const old = { principal: "prn_x", request: "r", createdAt: "2020-01-01T00:00:00.000Z" }
        yield* sql`INSERT INTO answers ${sql.insert({ ...old, key: "old" })}`
        const fresh = DateTime.formatIso(yield* DateTime.now)
        yield* sql`INSERT INTO answers ${sql.insert({ ...old, key: "new", createdAt: fresh })}`
        yield* sql`UPDATE journal SET at = '2020-01-01T00:00:00.000Z' WHERE kind = 'house.started'`
        // Retention leaves what a reader has not read.
        const readers = yield* Readers
        yield* Effect.forEach(yield* readers.list, ({ name }) => readers.receipt(name))
        const before = yield* journal.end
        const dueAt = yield* DateTime.now
        yield* journal.transact(timers.set({ purpose: "retention", key: "retention", dueAt, payload: null }))
        const fired = journal
          .read({ after: before, limit: 100 })
          .pipe(Effect.repeat({ until: (events) => events.some((event) => event.kind === "timer.fired") }))
        const last = (yield* fired).at(-1)!.cursor
        yield* readers.receipt("retention", last)
        const kept = yield* sql<{ key: string }>`SELECT key FROM answers WHERE principal = 'prn_x'`
        assert.deepStrictEqual(
          kept.map((row) => row.key),
          ["new"],
        )
        assert.strictEqual((yield* sql`SELECT cursor FROM journal WHERE kind = 'house.started'`).length, 0)
        const next = yield* sql<{ dueAt: string }>`SELECT due_at FROM timers WHERE key = 'retention'`
        assert.closeTo(Date.parse(next[0]!.dueAt), Date.now() + 3600 * 1000, 60_000)
      }),
    )

    test.effect("an answer kept under another key is a clear refusal, not a fault of ours", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const idempotencyKey = "kept"
        const add = () => admin.principals.add({ kind: "agent", name: "kept once" }, { idempotencyKey })
        yield* ask(add)
        yield* sql`UPDATE answers SET answer = ${new Uint8Array(64).fill(1)} WHERE key = ${idempotencyKey}`
        const error = (yield* Effect.flip(ask(add))) as StoaError
        assert.deepStrictEqual([error.status, error.tag], [409, "WrongState"])
      }),
    )

    test.effect("one principal has so many streams open at a time, and 429 for the next", () =>
      Effect.gen(function* () {
        const { admin, url } = yield* Guest
        yield* ask(() => admin.principals.add({ kind: "agent", name: "flood" }))
        const { token } = yield* ask(() => admin.tokens.add({ principal: "flood" }))
        const stop = new AbortController()
        const open = () =>
          ask(() =>
            fetch(new URL("/api/v1/events", url), {
              headers: { authorization: `Bearer ${token}` },
              signal: stop.signal,
            }),
          )
        const answers = yield* Effect.forEach(Array.from({ length: 201 }), open)
        stop.abort()
        assert.isTrue(answers.slice(0, 200).every((answer) => answer.status === 200))
        assert.strictEqual(answers[200]!.status, 429)
      }),
    )
  })

it.live(
  "S3-72 a second house on the same Postgres is refused",
  () =>
    Effect.gen(function* () {
      const { url } = yield* tempDatabase
      const start = Effect.gen(function* () {
        const data = join(yield* tempFolder, "data")
        const settings = Settings.layer({ STOA_PORT: "0", STOA_DATA: data, DATABASE_URL: Redacted.value(url) })
        const ground = Layer.merge(Folder.layer(data), layerLog("none", false)).pipe(Layer.provideMerge(settings))
        return yield* Layer.build(Layer.unwrap(Effect.map(keysOf, layerHouse)).pipe(Layer.provideMerge(ground)))
      })
      yield* start
      const second = yield* Effect.exit(Effect.scoped(start))
      assert.isTrue(Exit.isFailure(second))
      assert.include(String(second), "already runs on")
    }).pipe(Effect.scoped),
  30_000,
)
