/** Rows that are written beside the event loop: there once they are told, in order with the others, all or none of a batch. */
import { assert, layer } from "@effect/vitest"
import type { Event } from "@stoa/contract"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { batchesOf } from "../src/store/Batches.ts"
import { newCorrelation } from "../src/store/Correlation.ts"
import { makeInsert } from "../src/store/Inserts.ts"
import { type CausedEvent, Journal } from "../src/store/Journal.ts"
import { Readers, rowsInto } from "../src/store/Readers.ts"
import { ground, quiet, stores, until } from "./stores.ts"

interface Answer {
  readonly principal: string
  readonly key: string
  readonly request: string
  readonly createdAt: string
}
const row = (key: string): Answer => ({ principal: "p", key, request: "", createdAt: "" })
const event = (name: string): CausedEvent => ({
  kind: "secret.set",
  body: { name },
  at: "2026-01-01T00:00:00.000Z",
  actor: null,
  provenance: "house",
  correlationId: newCorrelation(),
})
const nameOf = (it: Event) => (it.kind === "secret.set" ? it.body.name : it.kind)

for (const [name, store] of stores)
  layer(Layer.merge(ground(store), quiet), { excludeTestServices: true })(`batches on ${name}`, (it) => {
    const prepared = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const batches = batchesOf(sql)
      assert.strictEqual(batches !== undefined, name === "sqlite")
      // The thread comes with the first who would use it; from then on it is the one that writes.
      if (batches !== undefined) yield* until(Effect.sync(() => batches.ready))
      const insert = makeInsert<Answer>(sql, "answers", ["principal", "key", "request", "createdAt"])
      return { sql, insert, journal: yield* Journal }
    })
    const keys = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(sql<{ key: string }>`SELECT key FROM answers ORDER BY key`, (rows) => rows.map((one) => one.key)),
    )

    it.effect("many at once, mixed with transactions of the other way: every row, every event, in one order", () =>
      Effect.gen(function* () {
        const { insert, journal } = yield* prepared
        const from = yield* journal.end
        const told: Array<string> = []
        const beside = (at: number) =>
          journal.writeTogether(insert, [row(`b${at}`), row(`c${at}`)], [event(`b${at}`), event(`c${at}`)]).pipe(
            // Told means there: for reading, and for whoever reads the journal.
            Effect.andThen(Effect.all([keys, journal.read({ after: from, limit: 1000 })])),
            Effect.map(([there, events]) => {
              assert.includeMembers([...there], [`b${at}`, `c${at}`])
              assert.includeMembers(events.map(nameOf), [`b${at}`, `c${at}`])
              told.push(`b${at}`, `c${at}`)
            }),
          )
        const inside = (at: number) =>
          Effect.map(
            journal.transact(
              Effect.andThen(
                Effect.orDie(insert.run([row(`t${at}`)])),
                journal.append({ kind: "secret.set", body: { name: `t${at}` } }),
              ),
            ),
            () => void told.push(`t${at}`),
          )
        yield* Effect.all(Array.from({ length: 40 }, (_, at) => [beside(at), inside(at)]).flat(), {
          concurrency: "unbounded",
        })
        assert.lengthOf(told, 120)
        assert.deepStrictEqual(yield* keys, told.toSorted())
        const events = yield* journal.read({ after: from, limit: 1000 })
        assert.deepStrictEqual(events.map(nameOf).toSorted(), told.toSorted())
        const places = new Map(events.map((one, at) => [nameOf(one), at]))
        for (let at = 0; at < 40; at++) assert.strictEqual(places.get(`c${at}`), places.get(`b${at}`)! + 1)
        if (name === "sqlite")
          assert.deepStrictEqual(
            events.map((one) => one.cursor),
            events.map((_, at) => from + 1 + at),
          )
        assert.strictEqual(yield* journal.end, events.at(-1)!.cursor)
        // What memory has of it is what the table has.
        yield* journal.readAnew
        assert.deepStrictEqual(yield* journal.read({ after: from, limit: 1000 }), events)
      }),
    )

    it.effect("a batch that cannot be written leaves nothing, and the next one is written", () =>
      Effect.gen(function* () {
        const { insert, journal } = yield* prepared
        const from = yield* journal.end
        const before = yield* keys
        const taken = yield* Effect.exit(
          journal.writeTogether(insert, [row("x1"), row("x1")], [event("x1"), event("x1")]),
        )
        assert.isTrue(Exit.isFailure(taken))
        if (name === "sqlite") {
          const odd = { ...row("x2"), request: 1n as never }
          assert.isTrue(Exit.isFailure(yield* Effect.exit(journal.writeTogether(insert, [odd], [event("x2")]))))
        }
        assert.deepStrictEqual(yield* keys, before)
        assert.deepStrictEqual(yield* journal.read({ after: from, limit: 10 }), [])
        const half = "half \ud83d of a character"
        yield* journal.writeTogether(insert, [{ ...row("x3"), request: half }], [event("x3")])
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT request FROM answers WHERE key = 'x3'`, [
          { request: half.toWellFormed() },
        ])
        yield* journal.transact(journal.append({ kind: "secret.set", body: { name: "x4" } }))
        assert.deepStrictEqual(yield* keys, [...before, "x3"].toSorted())
        assert.deepStrictEqual((yield* journal.read({ after: from, limit: 10 })).map(nameOf), ["x3", "x4"])
      }),
    )

    it.effect("what a reader gives is written with its place, or neither is", () =>
      Effect.gen(function* () {
        const { insert, journal, sql } = yield* prepared
        const readers = yield* Readers
        const from = yield* journal.end
        const before = yield* keys
        let twice = true
        const noted = `reader ${from}`
        yield* Effect.forkScoped(
          readers.run({
            name: noted,
            atomic: true,
            givesRows: true,
            handle: (events) => {
              const fresh = events.filter((it) => it.cursor > from).map((it) => row(`r ${nameOf(it)}`))
              // The same key twice: nothing of it can be written, and the place stays.
              return Effect.succeed(rowsInto(insert, twice ? [...fresh, ...fresh.slice(0, 1)] : fresh))
            },
          }),
        )
        yield* journal.transact(journal.append({ kind: "secret.set", body: { name: "one" } }))
        const state = Effect.map(readers.list, (all) => all.find((one) => one.name === noted))
        yield* until(Effect.map(state, (it) => it !== undefined && it.failure !== null))
        assert.deepStrictEqual(yield* keys, before)
        assert.isBelow((yield* state)!.cursor, yield* journal.end)
        twice = false
        yield* readers.receipt(noted)
        assert.deepStrictEqual(yield* keys, [...before, "r one"].toSorted())
        assert.deepInclude(yield* state, { cursor: yield* journal.end, failure: null })
        // Whoever has lost its lease writes nothing.
        yield* sql`UPDATE readers SET lease_owner = 'another', lease_until = '9999-01-01T00:00:00.000Z' WHERE name = ${noted}`
        yield* journal.transact(journal.append({ kind: "secret.set", body: { name: "two" } }))
        yield* until(Effect.map(state, (it) => it?.failure !== null))
        assert.notInclude(yield* keys, "r two")
      }),
    )
  })
