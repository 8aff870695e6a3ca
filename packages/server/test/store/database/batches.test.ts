/** Rows that are written in batches, here or beside the event loop: there once they are told, in order with the others, all or none of a batch. */
import { mkdirSync, renameSync, rmdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it, layer } from "@effect/vitest"
import type { Event } from "@stoa/contract"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { batchesOf, makeBatches } from "../../../src/store/database/sqlite/Batches.ts"
import { batchWriter } from "../../../src/store/database/statements.ts"
import { GroupCommit } from "../../../src/store/database/sqlite/groupCommit.ts"
import { newCorrelation } from "../../../src/store/journal/Correlation.ts"
import { makeInsert } from "../../../src/store/database/dialect/Inserts.ts"
import { type CausedEvent, Journal } from "../../../src/store/journal/Journal.ts"
import { Readers, rowsInto } from "../../../src/store/journal/readers/Readers.ts"
import { Store } from "../../../src/store/database/Store.ts"
import { ground, opened, quiet, stores, tempFolder, until, withBrokenDisk } from "../../stores.ts"

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
      // The thread comes with the first who would use it; from then on it is the one that writes, but for a few rows.
      if (batches !== undefined) yield* until(Effect.sync(() => batches.takes(1000)))
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
        // A few are written on the event loop, if nobody else is writing; more of them by the thread.
        const namesOf = (at: number) => [
          `b${at}`,
          `c${at}`,
          ...(at % 2 === 0 ? [] : Array.from({ length: 78 }, (_, n) => `d${n} ${at}`)),
        ]
        const beside = (at: number) =>
          journal.writeTogether([insert.with(namesOf(at).map(row))], namesOf(at).map(event)).pipe(
            // Told means there: for reading, and for whoever reads the journal.
            Effect.andThen(Effect.all([keys, journal.read({ after: from, limit: 3000 })])),
            Effect.map(([there, events]) => {
              assert.includeMembers([...there], namesOf(at))
              assert.includeMembers(events.map(nameOf), namesOf(at))
              told.push(...namesOf(at))
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
        assert.lengthOf(told, 20 * 2 + 20 * 80 + 40)
        assert.deepStrictEqual(yield* keys, told.toSorted())
        const events = yield* journal.read({ after: from, limit: 3000 })
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
        assert.deepStrictEqual(yield* journal.read({ after: from, limit: 3000 }), events)
      }),
    )

    it.effect("a batch that cannot be written leaves nothing, and the next one is written", () =>
      Effect.gen(function* () {
        const { insert, journal } = yield* prepared
        const from = yield* journal.end
        const before = yield* keys
        const taken = yield* Effect.exit(
          journal.writeTogether([insert.with([row("x1"), row("x1")])], [event("x1"), event("x1")]),
        )
        assert.isTrue(Exit.isFailure(taken))
        if (name === "sqlite") {
          // Neither a database nor another thread can be given this.
          const circle: { it?: unknown } = {}
          circle.it = circle
          const odd = { ...row("x2"), request: circle as never }
          assert.isTrue(Exit.isFailure(yield* Effect.exit(journal.writeTogether([insert.with([odd])], [event("x2")]))))
        }
        assert.deepStrictEqual(yield* keys, before)
        assert.deepStrictEqual(yield* journal.read({ after: from, limit: 10 }), [])
        const half = "half \ud83d of a character"
        yield* journal.writeTogether([insert.with([{ ...row("x3"), request: half }])], [event("x3")])
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT request FROM answers WHERE key = 'x3'`, [
          { request: half.toWellFormed() },
        ])
        yield* journal.transact(journal.append({ kind: "secret.set", body: { name: "x4" } }))
        assert.deepStrictEqual(yield* keys, [...before, "x3"].toSorted())
        assert.deepStrictEqual((yield* journal.read({ after: from, limit: 10 })).map(nameOf), ["x3", "x4"])
      }),
    )

    it.effect("rows that move are written with what follows from them, or nothing is: a few and many", () =>
      Effect.gen(function* () {
        const { insert, journal, sql } = yield* prepared
        const over = makeInsert<Answer>(
          sql,
          "answers",
          ["principal", "key", "request", "createdAt"],
          "ON CONFLICT (principal, key) DO UPDATE SET request = answers.request || excluded.request",
        )
        const values = sql.onDialectOrElse({
          pg: () => "jsonb_array_elements($1::jsonb) AS taken(value)",
          orElse: () => "json_each(?)",
        })
        const move = (names: ReadonlyArray<string>, request: string) => ({
          sql: `UPDATE answers SET request = value->>1 FROM ${values} WHERE answers.key = value->>0 RETURNING answers.key`,
          rows: JSON.stringify(names.map((name) => [name, request])),
          expects: names.length,
        })
        const requests = Effect.map(
          sql<Answer>`SELECT request FROM answers WHERE key LIKE ${"mv%"} ORDER BY request`,
          (rows) => rows.map(({ request }) => request),
        )
        for (const count of [2, 80]) {
          const names = Array.from({ length: count }, (_, at) => `mv${count} ${at}`)
          const sum = { ...row(`mv${count} sum`), request: "+" }
          yield* Effect.orDie(insert.run([...names.map(row), sum]))
          const from = yield* journal.end
          const before = yield* requests
          const missing = yield* journal.moveTogether(
            move([...names, "nobody"], "no"),
            [over.with([sum])],
            names.map(event),
          )
          assert.isFalse(missing)
          assert.deepStrictEqual(yield* requests, before)
          assert.deepStrictEqual(yield* journal.read({ after: from, limit: 100 }), [])
          // The sum stands there already and is added to; a table without rows is left out.
          const moved = yield* journal.moveTogether(
            move(names, "moved"),
            [over.with([sum]), over.with([])],
            names.map(event),
          )
          assert.isTrue(moved)
          assert.deepStrictEqual((yield* requests).filter((one) => one === "moved").length, count)
          assert.include(yield* requests, "++")
          assert.deepStrictEqual((yield* journal.read({ after: from, limit: 100 })).map(nameOf), names)
          yield* sql`DELETE FROM answers WHERE key LIKE ${"mv%"}`
        }
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

describe("batches of a file", () => {
  const built = Effect.gen(function* () {
    const folder = yield* tempFolder
    const context = yield* opened(ground(Store.layerSqlite(join(folder, "stoa.db"))))
    const [sql, journal] = [Context.get(context, SqlClient.SqlClient), Context.get(context, Journal)]
    const insert = makeInsert<Answer>(sql, "answers", ["principal", "key", "request", "createdAt"])
    return { folder, sql, journal, insert, batches: batchesOf(sql)! }
  })

  const groupOf = (
    db: DatabaseSync,
    sync: (done: (cause: Error | null) => void) => void,
    toError: (cause: unknown) => never,
  ) =>
    new GroupCommit({
      begin: () => db.exec("BEGIN IMMEDIATE"),
      commit: () => db.exec("COMMIT"),
      sync,
      rollback: () => db.exec("ROLLBACK"),
      exec: (sql) => db.exec(sql),
      inTransaction: () => db.isTransaction,
      toError,
    })

  /** A table of words, a disk that is done with a sync when it is told so, and how it then answers. */
  const onSlowDisk = Effect.gen(function* () {
    const file = join(yield* tempFolder, "stoa.db")
    const db = new DatabaseSync(file)
    yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
    db.exec("PRAGMA journal_mode=WAL; CREATE TABLE words (word TEXT)")
    const disk = { broken: null as Error | null, syncs: [] as Array<() => void> }
    const fail = (cause: unknown) => cause as never
    const group = groupOf(db, (done) => void disk.syncs.push(() => done(disk.broken)), fail)
    const batches = yield* makeBatches(file, group, fail, {
      write: batchWriter(db),
      sync: () => {
        if (disk.broken !== null) throw disk.broken
      },
      syncFailed: () => {},
      movesLog: () => {},
    })
    const transaction = Effect.scopedWith((scope) =>
      Effect.gen(function* () {
        const turn = yield* Scope.provide(
          group.acquire((it) => it),
          scope,
        )
        yield* group.begin(turn)
        db.exec("INSERT INTO words VALUES ('turn')")
        yield* group.commit(turn)
      }),
    )
    const put = (count: number) => {
      const rows = Array.from({ length: count }, () => ["batch"])
      return batches.write([{ into: "INSERT INTO words VALUES", rows }], count)
    }
    const finish = () => {
      for (const done of disk.syncs.splice(0)) done()
    }
    return { db, disk, batches, transaction, put, finish }
  })

  it.live("what a transaction wrote before a batch is told before it: with the next sync, and by the thread", () =>
    Effect.gen(function* () {
      const { batches, db, disk, finish, put: write, transaction: turn } = yield* onSlowDisk
      const told: Array<string> = []
      const transaction = Effect.map(turn, () => told.push("turn"))
      const put = (count: number) => Effect.map(write(count), () => told.push("batch"))
      const words = () => db.prepare("SELECT count(*) AS n FROM words").get()
      yield* Effect.forkChild(transaction, { startImmediately: true })
      yield* until(Effect.sync(() => disk.syncs.length === 1))
      // It is on disk, and about to be answered.
      finish()
      yield* Effect.forkChild(put(1), { startImmediately: true })
      yield* until(
        Effect.sync(() => {
          finish()
          return told.length === 2
        }),
      )
      assert.deepStrictEqual(told.splice(0), ["turn", "batch"])
      const begun = yield* Effect.forkChild(transaction, { startImmediately: true })
      yield* until(Effect.sync(() => disk.syncs.length === 1))
      // The disk is busy: nobody waits for it on the event loop. Two are written, and share the next sync.
      const both = yield* Effect.forkChild(Effect.all([put(1), put(1)], { concurrency: "unbounded" }), {
        startImmediately: true,
      })
      assert.deepStrictEqual(words(), { n: 5 })
      finish()
      yield* Fiber.join(begun)
      assert.deepStrictEqual(told, ["turn"])
      assert.strictEqual(disk.syncs.length, 1)
      finish()
      yield* Fiber.join(both)
      assert.deepStrictEqual(told.splice(0), ["turn", "batch", "batch"])
      yield* until(Effect.sync(() => batches.takes(1000)))
      const second = yield* Effect.forkChild(transaction, { startImmediately: true })
      const third = yield* Effect.forkChild(put(1000), { startImmediately: true })
      // One that need not be on disk is answered behind it, and waits for nobody.
      yield* batches.write([{ into: "INSERT INTO words VALUES", rows: [["quick"]] }], 1000, false)
      assert.deepStrictEqual(words(), { n: 1007 })
      assert.deepStrictEqual(told, [])
      finish()
      yield* Fiber.join(second)
      yield* Fiber.join(third)
      assert.deepStrictEqual(told, ["turn", "batch"])
    }).pipe(Effect.scoped),
  )

  it.live("what the disk did not take is answered to nobody as written, and the next one is", () =>
    Effect.gen(function* () {
      const { disk, finish, put, transaction } = yield* onSlowDisk
      const begin = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.forkChild(Effect.map(Effect.exit(effect), Exit.isSuccess), { startImmediately: true })
      disk.broken = new Error("the disk is gone")
      // Nobody else is there: the event loop waits for it.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(put(1))))
      // What is committed while it fails may be what failed: another sync would not be told so.
      const failing = [yield* begin(transaction), yield* begin(put(1))]
      yield* until(Effect.sync(() => disk.syncs.length === 1))
      finish()
      for (const one of failing) assert.isFalse(yield* Fiber.join(one))
      assert.strictEqual(disk.syncs.length, 0)
      disk.broken = null
      const going = [yield* begin(transaction), yield* begin(put(1))]
      yield* until(Effect.sync(() => disk.syncs.length === 1))
      finish()
      yield* until(Effect.sync(() => disk.syncs.length === 1))
      finish()
      for (const one of going) assert.isTrue(yield* Fiber.join(one))
    }).pipe(Effect.scoped),
  )

  const put = (sql: SqlClient.SqlClient, key: string) =>
    Effect.exit(sql.withTransaction(sql`INSERT INTO answers ${sql.insert({ ...row(key) })}`))

  /** After a sync that failed: nothing is acknowledged while somebody reads an older state, and the log cannot be moved. */
  const vouchesAgain = Effect.fnUntraced(function* (folder: string, sql: SqlClient.SqlClient) {
    const reader = new DatabaseSync(join(folder, "stoa.db"), { readOnly: true })
    reader.exec("BEGIN; SELECT count(*) FROM answers")
    assert.isTrue(Exit.isSuccess(yield* Effect.exit(sql`SELECT 1`)))
    assert.isTrue(Exit.isFailure(yield* put(sql, "after")))
    reader.close()
    assert.isTrue(Exit.isSuccess(yield* put(sql, "at last")))
  })

  it.live("after a sync that failed no other vouches for the log, until all of it is in the database", () =>
    Effect.gen(function* () {
      const { folder, sql } = yield* built
      assert.isTrue(Exit.isSuccess(yield* put(sql, "before")))
      assert.isTrue(Exit.isFailure(yield* withBrokenDisk(put(sql, "lost"))))
      yield* vouchesAgain(folder, sql)
    }).pipe(Effect.scoped),
  )

  it.live("nor after a sync that failed on the thread", () =>
    Effect.gen(function* () {
      const { batches, folder, insert, sql } = yield* built
      const log = join(folder, "stoa.db-wal")
      const many = (name: string) => insert.with(Array.from({ length: 200 }, (_, at) => row(`${name}${at}`)))
      const onThread = (name: string, synced: boolean) =>
        Effect.exit(batches.write([many(name).statement()], 200, synced))
      yield* until(Effect.sync(() => batches.takes(200)))
      assert.isTrue(Exit.isSuccess(yield* onThread("first", false)))
      // SQLite has the log open; the thread opens it by its name, to sync it for the first time.
      renameSync(log, `${log}-away`)
      mkdirSync(log)
      assert.isTrue(Exit.isFailure(yield* onThread("lost", true)))
      rmdirSync(log)
      renameSync(`${log}-away`, log)
      yield* vouchesAgain(folder, sql)
      assert.isTrue(Exit.isSuccess(yield* onThread("again", true)))
    }).pipe(Effect.scoped),
  )

  it.live("a few rows need no thread, on a disk that is quick; the first that are more start one", () =>
    Effect.gen(function* () {
      const { batches, insert, journal, sql } = yield* built
      yield* journal.writeTogether([insert.with([row("one")])], [event("one")])
      assert.isFalse(batches.standing)
      assert.deepStrictEqual(yield* sql`SELECT key FROM answers`, [{ key: "one" }])
      const many = Array.from({ length: 100 }, (_, at) => `m${at}`)
      yield* journal.writeTogether([insert.with(many.map(row))], many.map(event))
      yield* until(Effect.sync(() => batches.standing))
      // Whoever has a transaction open is not written into.
      yield* journal
        .transact(
          Effect.gen(function* () {
            yield* Effect.orDie(insert.run([row("inside")]))
            yield* Effect.forkIn(
              journal.writeTogether([insert.with([row("two")])], [event("two")]),
              yield* Effect.scope,
            )
            yield* Effect.yieldNow
            return yield* Effect.fail("no")
          }),
        )
        .pipe(Effect.ignore)
      yield* until(Effect.map(sql`SELECT key FROM answers WHERE key = 'two'`, (rows) => rows.length === 1))
      assert.deepStrictEqual(yield* sql`SELECT key FROM answers WHERE key = 'inside'`, [])
    }).pipe(Effect.scoped),
  )

  it.live(
    "what must be on disk is synced before it is told, nothing else is; and a slow disk does not hold the event loop",
    () =>
      Effect.gen(function* () {
        const file = join(yield* tempFolder, "stoa.db")
        const db = new DatabaseSync(file)
        yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
        db.exec("PRAGMA journal_mode=WAL; CREATE TABLE words (word TEXT)")
        let isSlow = true
        const done: Array<string> = []
        const beside = (answer: (cause: null) => void) => {
          done.push("synced beside")
          queueMicrotask(() => answer(null))
        }
        const group = groupOf(db, beside, (cause) => assert.fail(String(cause)))
        const write = batchWriter(db)
        const batches = yield* makeBatches(file, group, (cause) => assert.fail(String(cause)), {
          write: (statements) => {
            done.push("written")
            return write(statements)
          },
          sync: () => {
            done.push("synced")
            // A disk that takes 20 ms.
            if (isSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
          },
          syncFailed: () => {},
          movesLog: () => {},
        })
        const put = (word: string, synced?: boolean) =>
          Effect.map(
            batches.write([{ into: "INSERT INTO words VALUES", rows: JSON.stringify([[word]]) }], 1, synced),
            () => done.push("told"),
          )
        yield* put("a", false)
        assert.deepStrictEqual(done.splice(0), ["written", "told"])
        yield* put("b")
        assert.deepStrictEqual(done.splice(0), ["written", "synced", "told"])
        yield* put("c")
        assert.deepStrictEqual(done.splice(0), ["written", "synced beside", "told"])
        assert.isFalse(batches.standing)
        // Such a disk is given a thread that moves the log, however few rows there are.
        assert.isTrue(batches.takes(1))
        yield* until(Effect.sync(() => batches.standing))
        // It is looked at again now and then; once it is quick, that is that.
        isSlow = false
        yield* until(
          Effect.map(put("d"), () => {
            const [written, synced, told] = done.splice(0)
            assert.deepStrictEqual([written, told], ["written", "told"])
            return synced === "synced"
          }),
        )
        yield* put("d")
        assert.deepStrictEqual(done.splice(0), ["written", "synced", "told"])
        assert.deepStrictEqual(
          db
            .prepare("SELECT DISTINCT word FROM words")
            .all()
            .map(({ word }) => word),
          [..."abcd"],
        )
      }).pipe(Effect.scoped),
  )

  it.live(
    "while there is a thread it moves the log into the database, also what others have written: the log does not grow for ever",
    () =>
      Effect.gen(function* () {
        const { batches, folder, insert, journal } = yield* built
        yield* until(Effect.sync(() => batches.takes(1000)))
        const large = "x".repeat(1_000_000)
        let written = 0
        yield* until(
          Effect.gen(function* () {
            yield* journal.transact(Effect.orDie(insert.run([{ ...row(`k${written}`), request: large }])))
            written += large.length
            return statSync(join(folder, "stoa.db-wal")).size < written / 3
          }),
        )
      }).pipe(Effect.scoped),
    60_000,
  )
})
