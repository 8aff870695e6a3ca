/** The contract of a store: what every room may rely on, whichever database is underneath. */
import { statSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { vi } from "vitest"
import { claimDue } from "../../src/store/leases/Claims.ts"
import { columnTypes, Flag, json } from "../../src/store/database/dialect/Columns.ts"
import { Store } from "../../src/store/database/Store.ts"
import { quiet, stores, tempDatabase, until } from "../stores.ts"

const tables = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { bigint, bytes, counter, flag } = yield* columnTypes
    yield* sql`CREATE TABLE things (id ${counter}, name TEXT UNIQUE, is_good ${flag}, big_number ${bigint}, some_json TEXT, raw_bytes ${bytes})`
    yield* sql`CREATE TABLE jobs (id TEXT PRIMARY KEY, due_at TEXT NOT NULL, lease_owner TEXT, lease_until TEXT)`
  }),
)

for (const [name, store] of stores)
  layer(tables.pipe(Layer.provideMerge(store)), { excludeTestServices: true })(`store on ${name}`, (it) => {
    const names = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ name: string }>`SELECT name FROM things ORDER BY name`
      return rows.map((row) => row.name)
    })
    const insert = (thing: string) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO things ${sql.insert({ name: thing })}`)
    const clear = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM things`)

    it.effect("commits a transaction and rolls back a failed one", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        yield* sql.withTransaction(insert("kept"))
        yield* sql.withTransaction(Effect.andThen(insert("lost"), Effect.fail("no"))).pipe(Effect.flip)
        assert.deepStrictEqual(yield* names, ["kept"])
      }),
    )

    it.effect("keeps the outer transaction when a nested one fails on a unique violation", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* insert("outer")
            const error = yield* sql.withTransaction(Effect.andThen(insert("inner"), insert("outer"))).pipe(Effect.flip)
            assert.strictEqual(error.reason._tag, "UniqueViolation")
            yield* insert("after")
          }),
        )
        assert.deepStrictEqual(yield* names, ["after", "outer"])
      }),
    )

    it.effect("nested transactions that run at once are one after the other: none takes another's rows along", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const nested = (name: string, fails: boolean) =>
          sql.withTransaction(
            Effect.gen(function* () {
              yield* insert(`${name} 1`)
              for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
              yield* insert(`${name} 2`)
              return fails ? yield* Effect.fail("no") : undefined
            }),
          )
        yield* sql.withTransaction(
          Effect.forEach(["a", "b", "c", "d"], (name) => Effect.ignore(nested(name, name === "a" || name === "c")), {
            concurrency: "unbounded",
          }),
        )
        assert.deepStrictEqual(yield* names, ["b 1", "b 2", "d 1", "d 2"])
      }),
    )

    it.effect("rolls back when interrupted inside a transaction, and stays usable", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const inside = yield* Deferred.make<void>()
        const fiber = yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* insert("half")
              yield* Deferred.succeed(inside, undefined)
              return yield* Effect.never
            }),
          )
          .pipe(Effect.forkChild)
        yield* Deferred.await(inside)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* names, [])
        yield* insert("next")
        assert.deepStrictEqual(yield* names, ["next"])
      }),
    )

    it.effect("runs 50 concurrent transactions, each whole", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const one = (n: number) =>
          sql.withTransaction(
            Effect.gen(function* () {
              yield* insert(`${n}-a`)
              yield* Effect.yieldNow
              yield* insert(`${n}-b`)
              if (n % 5 === 0) return yield* Effect.fail("every fifth fails")
            }),
          )
        const exits = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, n) => n),
          (n) => Effect.exit(one(n)),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 40)
        assert.strictEqual((yield* names).length, 80)
      }),
    )

    it.effect("runs each of many transactions once, though some of them take long", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const wanted = Array.from({ length: 120 }, (_, n) => `${n}`.padStart(3, "0"))
        const ran: Array<string> = []
        const busy = (millis: number) => {
          const end = performance.now() + millis
          while (performance.now() < end);
        }
        const one = (thing: string) =>
          sql.withTransaction(
            Effect.andThen(
              insert(`${thing} of run ${ran.push(thing)}`),
              Effect.sync(() => busy(thing.endsWith("7") ? 7 : 0)),
            ),
          )
        yield* Effect.forEach(wanted, one, { concurrency: 8 })
        assert.deepStrictEqual(
          (yield* names).map((thing) => thing.slice(0, 3)),
          wanted,
        )
      }),
    )

    it.effect("shows an uncommitted row to its own transaction only", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const written = yield* Deferred.make<void>()
        const looked = yield* Deferred.make<void>()
        const fiber = yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* insert("secret")
              assert.deepStrictEqual(yield* names, ["secret"])
              yield* Deferred.succeed(written, undefined)
              yield* Deferred.await(looked)
            }),
          )
          .pipe(Effect.forkChild)
        yield* Deferred.await(written)
        assert.deepStrictEqual(yield* names, [])
        yield* Deferred.succeed(looked, undefined)
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(yield* names, ["secret"])
      }),
    )

    it.effect("a fiber that outlives its transaction cannot write into another", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const ended = yield* Deferred.make<void>()
        const fiber = yield* sql.withTransaction(
          Effect.forkDetach(Effect.andThen(Deferred.await(ended), insert("stray"))),
        )
        const next = yield* Deferred.make<void>()
        const other = yield* sql
          .withTransaction(Effect.andThen(insert("other"), Deferred.await(next)))
          .pipe(Effect.forkChild({ startImmediately: true }))
        yield* Deferred.succeed(ended, undefined)
        assert.strictEqual((yield* Fiber.await(fiber))._tag, "Failure")
        yield* Deferred.succeed(next, undefined)
        yield* Fiber.join(other)
        assert.deepStrictEqual(yield* names, ["other"])
      }),
    )

    it.effect("what a reserved connection has written is there when it answers", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const written = sql.withTransaction(insert("joined"))
        yield* Effect.all(
          [
            written,
            Effect.scoped(
              Effect.flatMap(sql.reserve, (conn) =>
                Effect.andThen(conn.execute("INSERT INTO things (name) VALUES ('alone')", [], undefined), names),
              ).pipe(Effect.tap((seen) => Effect.sync(() => assert.include(seen, "alone")))),
            ),
          ],
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(yield* names, ["alone", "joined"])
      }),
    )

    if (name === "postgres")
      it.effect("does not acknowledge a transaction in which a statement failed unseen", () =>
        Effect.gen(function* () {
          yield* clear
          const sql = yield* SqlClient.SqlClient
          yield* insert("taken")
          const exit = yield* Effect.exit(
            sql.withTransaction(Effect.andThen(insert("lost"), Effect.ignore(insert("taken")))),
          )
          assert.isTrue(Exit.isFailure(exit))
          assert.deepStrictEqual(yield* names, ["taken"])
        }),
      )

    it.effect("runs what waits for the commit only if it commits", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const heard: Array<string> = []
        const say = (word: string) => sql.afterCommit(Effect.sync(() => void heard.push(word)))
        yield* sql.withTransaction(Effect.andThen(say("yes"), insert("x")))
        yield* Effect.ignore(sql.withTransaction(Effect.andThen(say("no"), Effect.fail("rolled back"))))
        assert.deepStrictEqual(heard.splice(0), ["yes"])
        // One within another waits for the outer one, and is dropped with whichever of them fails.
        const nested = (word: string) =>
          sql.withTransaction(
            Effect.andThen(
              say(word),
              Effect.sync(() => heard.length),
            ),
          )
        yield* sql.withTransaction(
          Effect.gen(function* () {
            assert.strictEqual(yield* nested("within"), 0)
            yield* Effect.ignore(sql.withTransaction(Effect.andThen(say("lost"), Effect.fail("rolled back"))))
            assert.deepStrictEqual(heard, [])
          }),
        )
        yield* Effect.ignore(sql.withTransaction(Effect.andThen(nested("lost too"), Effect.fail("rolled back"))))
        assert.deepStrictEqual(heard.splice(0), ["within"])
        // It runs after the transaction and outside of it, each on its own: one that fails takes nothing back.
        const later = Effect.andThen(Effect.orDie(insert("later")), say("at once"))
        yield* sql.withTransaction(
          Effect.all([
            sql.afterCommit(Effect.die("broken")),
            sql.afterCommit(later),
            Effect.sync(() => heard.push("body")),
          ]),
        )
        assert.deepStrictEqual(heard.splice(0), ["body", "at once"])
        assert.deepStrictEqual((yield* names).toSorted(), ["later", "x"])
        const inside = yield* sql.withTransaction(Effect.context<never>())
        const outlives = Effect.provideContext(say("too late"), inside)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(outlives)))
        assert.deepStrictEqual(heard, [])
      }).pipe(Effect.provide(quiet)),
    )

    it.effect("carries JSON, booleans, bytes and big integers, and renames columns", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        const Thing = Schema.Struct({
          name: Schema.String,
          isGood: Flag,
          bigNumber: Schema.BigInt,
          someJson: json(Schema.Struct({ innerName: Schema.Array(Schema.Int) })),
          rawBytes: Schema.Uint8Array,
        })
        const bigNumber = 9_007_199_254_740_993n
        const someJson = { innerName: [1, 2] }
        yield* sql`INSERT INTO things ${sql.insert({ name: "é", isGood: true, bigNumber, someJson: JSON.stringify(someJson), rawBytes: new Uint8Array([0, 255]) })}`
        const find = SqlSchema.findOne({
          Request: Schema.Boolean,
          Result: Thing,
          execute: (good) =>
            sql`SELECT name, is_good, big_number, some_json, raw_bytes FROM things WHERE is_good = ${good}`,
        })
        const thing = yield* find(true).pipe(Effect.provideService(SqlClient.SafeIntegers, true), Effect.orDie)
        assert.deepStrictEqual(thing.someJson, someJson)
        assert.strictEqual(thing.isGood, true)
        assert.strictEqual(thing.bigNumber, bigNumber)
        assert.deepStrictEqual([...thing.rawBytes], [0, 255])
      }),
    )

    it.effect("gives a taken primary key and a taken unique column as one typed error", () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO jobs ${sql.insert({ id: "one", dueAt: "2020" })}`
        const taken = yield* sql`INSERT INTO jobs ${sql.insert({ id: "one", dueAt: "2021" })}`.pipe(Effect.flip)
        assert.strictEqual(taken.reason._tag, "UniqueViolation")
        yield* insert("same")
        assert.strictEqual((yield* insert("same").pipe(Effect.flip)).reason._tag, "UniqueViolation")
        yield* sql`DELETE FROM jobs`
      }),
    )

    it.effect("gives each due row to one of many claimers, and again once the lease has run out", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const now = yield* DateTime.now
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, n) => n),
          (n) => sql`INSERT INTO jobs ${sql.insert({ id: `job-${n}`, dueAt: DateTime.formatIso(now) })}`,
        )
        const claim = (owner: string, at: DateTime.Utc) =>
          claimDue<{ id: string }>(sql, { table: "jobs", owner, now: at, lease: Duration.seconds(30), limit: 10 })
        const taken = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, n) => n),
          (n) => claim(`owner-${n}`, now),
          { concurrency: "unbounded" },
        )
        const ids = taken.flat().map((row) => row.id)
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.strictEqual(ids.length, 60)
        assert.strictEqual((yield* claim("late", now)).length, 0)
        assert.strictEqual((yield* claim("late", DateTime.add(now, { seconds: 31 }))).length, 10)
      }),
    )
  })

layer(tables.pipe(Layer.provideMerge(stores[0]![1])), { excludeTestServices: true })("group commit on sqlite", (it) => {
  const count = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return (yield* sql<{ n: number }>`SELECT count(*) AS n FROM things`)[0]!.n
  })
  const insert = (thing: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO things ${sql.insert({ name: thing })}`)
  const many = (n: number) => Array.from({ length: n }, (_, i) => `${i}`)

  /** Runs them side by side until it happens that they share a batch, which a busy machine may cut short. */
  const together = (ones: ReadonlyArray<Effect.Effect<unknown, unknown, SqlClient.SqlClient>>) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (let round = 0; round < 50; round++) {
        yield* sql`DELETE FROM things WHERE name <> 'taken'`
        const exits = yield* Effect.forEach(ones, (one) => Effect.exit(one), { concurrency: "unbounded" })
        // Alone or together: what is there is what was acknowledged.
        const stored = yield* sql<{ name: string }>`SELECT name FROM things WHERE name <> 'taken' ORDER BY name`
        const acknowledged = exits.flatMap((exit, n) => (Exit.isSuccess(exit) ? [`${n}`] : []))
        assert.deepStrictEqual(
          stored.map((row) => row.name),
          acknowledged,
        )
        if (acknowledged.length === 0) return exits
      }
      return assert.fail("they never shared a batch")
    })

  it.effect("a batch whose COMMIT fails is acknowledged to nobody, and the next one works", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE parents (id TEXT PRIMARY KEY)`
      yield* sql`CREATE TABLE children (parent TEXT REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`
      const orphan = sql.withTransaction(sql`INSERT INTO children (parent) VALUES ('nobody')`)
      const refused = sql.withTransaction(Effect.andThen(insert("refused"), Effect.fail("refused")))
      const exits = yield* together([...many(5).map((n) => sql.withTransaction(insert(n))), refused, orphan])
      // The refusal rested on rows that are gone: it is not the answer either.
      assert.isTrue(Exit.hasDies(exits[5]!))
      yield* sql.withTransaction(insert("next"))
      assert.strictEqual(yield* count, 1)
    }),
  )

  it.effect("a transaction that SQLite rolls back by itself takes its batch with it, and cannot go on", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM things`
      yield* insert("taken")
      const afterwards = new Set<string>()
      const broken = sql.withTransaction(
        Effect.gen(function* () {
          yield* Effect.ignore(sql`INSERT OR ROLLBACK INTO things (name) VALUES ('taken')`)
          afterwards.add((yield* Effect.exit(insert("alone")))._tag)
        }),
      )
      yield* together([...many(3).map((n) => sql.withTransaction(insert(n))), broken])
      assert.deepStrictEqual([...afterwards], ["Failure"])
      yield* sql.withTransaction(insert("next"))
      assert.strictEqual(yield* count, 2)
    }),
  )

  it.effect("nobody waits for a batch that an interrupted writer was to close", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (let round = 0; round < 20; round++) {
        const gate = yield* Deferred.make<void>()
        let ending = false
        const first = yield* sql
          .withTransaction(
            Effect.andThen(
              Deferred.await(gate),
              Effect.sync(() => void (ending = true)),
            ),
          )
          .pipe(Effect.forkChild({ startImmediately: true }))
        const next = yield* sql.withTransaction(insert("next")).pipe(Effect.forkChild({ startImmediately: true }))
        // Between the end of the first, which leaves the batch to the next, and the turn of the next.
        const meddler = yield* Effect.forkChild(
          Effect.andThen(
            until(Effect.sync(() => ending)),
            Effect.suspend(() => Fiber.interrupt(next)),
          ),
        )
        for (let turns = 0; turns < round; turns++) yield* Effect.yieldNow
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.forEach([meddler, first], Fiber.join)
      }
    }),
  )

  it.effect("writers that are interrupted at any moment leave the others whole", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM things`
      for (let round = 0; round < 50; round++) {
        const fibers = yield* Effect.forEach(many(8), (n) =>
          Effect.forkChild(sql.withTransaction(Effect.andThen(insert(`${round}-${n}`), Effect.yieldNow))),
        )
        for (let turns = 0; turns < round % 10; turns++) yield* Effect.yieldNow
        yield* Fiber.interruptAll(fibers.filter((_, n) => n % 3 !== round % 3))
        const exits = yield* Effect.forEach(fibers, Fiber.await)
        const kept = exits.filter((_, n) => n % 3 === round % 3)
        assert.isTrue(kept.every(Exit.isSuccess))
        const stored = yield* sql`SELECT name FROM things WHERE name LIKE ${`${round}-%`}`
        assert.isAtLeast(stored.length, kept.length)
      }
    }),
  )

  it.effect("many writers share few commits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM things`
      const pages = Effect.map(Store, ({ where }) => statSync(`${where}-wal`).size)
      yield* sql`SELECT 1`
      const before = yield* pages
      yield* Effect.forEach(many(200), (n) => sql.withTransaction(insert(n)), { concurrency: "unbounded" })
      const shared = (yield* pages) - before
      yield* Effect.forEach(many(200), (n) => sql.withTransaction(insert(`alone ${n}`)))
      const alone = (yield* pages) - before - shared
      assert.isBelow(shared * 3, alone)
    }),
  )
})

layer(Layer.unwrap(Effect.map(tempDatabase, ({ url }) => Store.layerPostgres(url, 1))), {
  excludeTestServices: true,
})("a busy pool on postgres", (it) => {
  it.effect(
    "who waits half a minute for a connection of ours gets it: a queue is no database that does not answer",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const first = yield* Effect.forkChild(
          sql.withTransaction(Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release))),
        )
        yield* Deferred.await(held)
        // The pool's clock alone: half a minute passes while one waits.
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
        const asked = Effect.runPromiseWith(yield* Effect.context<never>())(Effect.exit(sql`SELECT 1 AS one`))
        vi.advanceTimersByTime(30_000)
        vi.useRealTimers()
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(first)
        const exit = yield* Effect.promise(() => asked)
        assert.isTrue(Exit.isSuccess(exit), String(exit))
      }).pipe(Effect.ensuring(Effect.sync(() => vi.useRealTimers()))),
  )
})
