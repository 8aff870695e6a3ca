/** Transactions in conflict on Postgres: the outermost one runs again, whatever the code inside made of the failure. */
import { assert, layer } from "@effect/vitest"
import type { NewEvent } from "@stoa/contract"
import { Deferred, Effect, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { newCorrelation, newId } from "../../../src/store/journal/Correlation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { makeInsert } from "../../../src/store/database/dialect/Inserts.ts"
import { SearchIndex } from "../../../src/store/search/SearchIndex.ts"
import { ground, quiet, stores, until } from "../../stores.ts"

const said = (name: string): NewEvent => ({ kind: "secret.set", body: { name } })

/** The events of this test alone. */
const namesSince = Effect.fnUntraced(function* (after: number) {
  const events = yield* (yield* Journal).read({ after, limit: 1000 })
  return events.flatMap((event) => (event.kind === "secret.set" ? [event.body.name] : [])).toSorted()
})

const row = (key: string) => ({ principal: "p", key, request: "", createdAt: "" })
const insert = (key: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO answers ${sql.insert(row(key))}`)
const touch = (key: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE answers SET request = request || 'x' WHERE key = ${key}`)
const touched = (key: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ request: string }>`SELECT request FROM answers WHERE key = ${key}`,
      (rows) => rows[0]!.request.length,
    ),
  )

/** Two that wait here for each other, once. */
const meeting = Effect.map(Effect.all([Deferred.make<void>(), Deferred.make<void>()]), ([one, other]) => ({
  one: Effect.andThen(Deferred.succeed(one, undefined), Deferred.await(other)),
  other: Effect.andThen(Deferred.succeed(other, undefined), Deferred.await(one)),
}))

/** As Postgres ends a transaction. */
const ended = (code: "40P01" | "40001") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'ended by a test' USING ERRCODE = '${code}'; END $$`),
  )

for (const [name, store] of stores.filter(([it]) => it === "postgres"))
  layer(Layer.mergeAll(SearchIndex.layer, quiet).pipe(Layer.provideMerge(ground(store))), {
    excludeTestServices: true,
  })(`conflicts on ${name}`, (it) => {
    it.effect("of two transactions that wait for each other one runs again, and each happens once", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const [a, b] = [newId("key"), newId("key")]
        yield* journal.transact(Effect.andThen(insert(a), insert(b)))
        const end = yield* journal.committed
        const { one, other } = yield* meeting
        const done: Array<string> = []
        const undone: Array<string> = []
        const runs = yield* Ref.make(0)
        const crossing = (label: string, first: string, second: string, meet: Effect.Effect<unknown>) =>
          journal.transact(
            Effect.gen(function* () {
              yield* Ref.update(runs, (n) => n + 1)
              yield* journal.append(said(label))
              yield* journal.onRollback(() => void undone.push(label))
              yield* sql.afterCommit(Effect.sync(() => void done.push(label)))
              yield* touch(first)
              yield* meet
              yield* touch(second)
            }),
          )
        yield* Effect.all([crossing("a", a, b, one), crossing("b", b, a, other)], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* namesSince(end), ["a", "b"])
        assert.deepStrictEqual([yield* touched(a), yield* touched(b)], [2, 2])
        assert.strictEqual(yield* Ref.get(runs), 3)
        assert.deepStrictEqual(done.toSorted(), ["a", "b"])
        assert.lengthOf(undone, 1)
      }),
    )

    it.effect("a conflict in a savepoint that its code swallowed ends the whole transaction, which runs again", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const end = yield* journal.committed
        let [outer, inner] = [0, 0]
        const within = journal.transact(
          Effect.gen(function* () {
            yield* journal.append(said("inner"))
            if (++inner === 1) yield* ended("40P01")
          }),
        )
        const exit = yield* journal.transact(
          Effect.gen(function* () {
            outer++
            yield* journal.append(said("outer"))
            return (yield* Effect.exit(within))._tag
          }),
        )
        assert.deepStrictEqual([exit, outer, inner], ["Success", 2, 2])
        assert.deepStrictEqual(yield* namesSince(end), ["inner", "outer"])
      }),
    )

    it.effect("also if the code made a failure of its own of it, or the conflict is a serialization failure", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        for (const code of ["40P01", "40001"] as const) {
          let runs = 0
          const told = yield* journal.transact(
            Effect.gen(function* () {
              if (++runs === 1) yield* Effect.mapError(ended(code), () => "it crashed" as const)
              return "done"
            }),
          )
          assert.deepStrictEqual([told, runs], ["done", 2])
        }
      }),
    )

    it.effect("a failure that is no conflict happens once, and one that stays is given up after a few runs", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        let runs = 0
        const once = yield* Effect.flip(journal.transact(Effect.suspend(() => Effect.fail(`run ${++runs}`))))
        assert.strictEqual(once, "run 1")
        runs = 0
        const error = yield* Effect.flip(
          journal.transact(
            Effect.suspend(() => {
              runs++
              return ended("40P01")
            }),
          ),
        )
        assert.strictEqual(error.reason._tag, "DeadlockError")
        assert.strictEqual(runs, 6)
      }),
    )

    it.effect("rows that are written together, and a transaction that they wait for and that waits for them", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const end = yield* journal.committed
        const key = newId("key")
        const columns = ["principal", "key", "request", "createdAt"] as const
        const rows = makeInsert<ReturnType<typeof row>>(sql, "answers", columns, "ON CONFLICT DO NOTHING")
        const cause = {
          at: new Date(0).toISOString(),
          actor: null,
          correlationId: newCorrelation(),
          provenance: "house",
        } as const
        const inserted = yield* Deferred.make<void>()
        const waits = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'transactionid'
          AND NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`
        const first = journal.transact(
          Effect.gen(function* () {
            yield* journal.append(said("first"))
            yield* rows.run([row(key)])
            yield* Deferred.succeed(inserted, undefined)
            yield* until(Effect.map(waits, ([found]) => found!.n > 0))
          }),
        )
        const together = Effect.andThen(
          Deferred.await(inserted),
          journal.writeTogether([rows.with([row(key)])], [{ ...said("together"), ...cause }]),
        )
        yield* Effect.all([first, together], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* namesSince(end), ["first", "together"])
      }),
    )

    it.effect("texts are indexed last: transactions that index in the same scopes, crosswise, do not meet", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const index = yield* SearchIndex
        const { one, other } = yield* meeting
        let runs = 0
        const entry = (scope: string, ref: string) => ({
          scope,
          ref,
          series: null,
          label: "",
          text: `the lighthouse ${ref}`,
        })
        const crossing = (ref: string, scopes: ReadonlyArray<string>, meet: Effect.Effect<unknown>) =>
          journal.transact(
            Effect.gen(function* () {
              runs++
              yield* index.put(entry(scopes[0]!, ref))
              yield* meet
              yield* index.put(entry(scopes[1]!, ref))
            }),
          )
        yield* Effect.all(
          [crossing("left", ["cross:a", "cross:b"], one), crossing("right", ["cross:b", "cross:a"], other)],
          { concurrency: "unbounded" },
        )
        assert.strictEqual(runs, 2)
        const { found } = yield* index.find(["cross:a", "cross:b"], "lighthouse")
        assert.deepStrictEqual(found.map(({ ref }) => ref).toSorted(), ["left", "right"])
      }),
    )
  })
