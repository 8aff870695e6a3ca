/** The rounds of crash.test.ts and its long variant: write, kill -9, look, and again on the same database. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { Store } from "../../../src/store/database/Store.ts"
import { spawned } from "./crashProcess.ts"
import { crashReaders } from "./crashReaders.ts"
import { ground, quiet, type Stored, tempDatabase, tempFolder } from "../../stores.ts"

const homes: ReadonlyArray<readonly [string, Effect.Effect<readonly [string, Stored], never, Scope.Scope>]> = [
  [
    "sqlite",
    Effect.map(tempFolder, (folder) => {
      const file = join(folder, "stoa.db")
      return [file, Store.layerSqlite(file)] as const
    }),
  ],
  ["postgres", Effect.map(tempDatabase, ({ url }) => [Redacted.value(url), Store.layerPostgres(url)] as const)],
]

const ids = (by: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ key: string }>`SELECT key FROM answers WHERE principal = ${by} ORDER BY key`
    return rows.map((row) => row.key)
  })

/** Rows and events by one statement: a dead client's last COMMIT may still be on its way through Postgres. */
const written = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ what: string; id: string }>`SELECT 'row' AS what, key AS id FROM answers
    WHERE principal = 'writer' UNION ALL SELECT 'event' AS what, body AS id FROM journal`
  const of = (what: string) => found.filter((one) => one.what === what).map((one) => one.id)
  return { rows: of("row").toSorted(), events: of("event").map((body) => (JSON.parse(body) as { name: string }).name) }
})

const isId = /^[0-9a-f-]{36}$/

export const crashing = (rounds: ReadonlyArray<number>) => {
  for (const [name, home] of homes)
    describe(`kill -9 on ${name}`, () => {
      it.effect(
        "S3-75 G-23 no acknowledged row or event is lost, none is there without the other, and the readers catch up",
        () =>
          Effect.gen(function* () {
            const [where, store] = yield* home
            const acknowledged: Array<string> = []
            for (const enough of rounds) {
              const child = yield* spawned(new URL("./crashWriter.ts", import.meta.url), [name, where])
              const before = acknowledged.length
              while (acknowledged.length - before < enough) {
                const line = yield* child.line
                if (line.startsWith("exited")) return assert.fail(line)
                // A busy machine may have the writer say that it was slow.
                if (isId.test(line)) acknowledged.push(line)
              }
              yield* child.kill
              acknowledged.push(...(yield* child.rest).filter((line) => isId.test(line)))
              yield* Effect.scoped(
                Effect.gen(function* () {
                  const { events, rows } = yield* written
                  assert.deepStrictEqual(events.toSorted(), rows)
                  const there = new Set(rows)
                  assert.deepStrictEqual(
                    acknowledged.filter((id) => !there.has(id)),
                    [],
                  )
                }).pipe(Effect.provide(Layer.fresh(store))),
              )
            }
            assert.isAtLeast(
              acknowledged.length,
              rounds.reduce((sum, n) => sum + n, 0),
            )
            // The next process starts after the dead one's lease.
            yield* TestClock.setTime(Date.now() + 60_000)
            yield* Effect.scoped(
              Effect.gen(function* () {
                const readers = yield* Readers
                yield* readers.receipt("repeating")
                yield* readers.receipt("once")
                const rows = yield* ids("writer")
                assert.deepStrictEqual(yield* ids("repeating"), rows)
                assert.deepStrictEqual(yield* ids("once"), rows)
                const states = yield* readers.list
                assert.deepStrictEqual(
                  states.map((one) => one.failure),
                  [null, null],
                )
              }).pipe(
                Effect.provide(Layer.fresh(crashReaders.pipe(Layer.provideMerge(ground(store)), Layer.merge(quiet)))),
              ),
            )
          }),
        60_000,
      )
    })
}
