/** The journal: events live and die with their transaction, and a cursor never skips one. */
import { assert, layer } from "@effect/vitest"
import { type CallId, type Event, eventSchemas, kinds, type NewEvent, type PrincipalId } from "@stoa/contract"
import { Context, DateTime, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { becauseOf, causedBy, newCorrelation, newId } from "../../../src/store/journal/Correlation.ts"
import { type CausedEvent, Journal, type Transaction } from "../../../src/store/journal/Journal.ts"
import { SharedDatabase } from "../../../src/store/leases/Holder.ts"
import { Notices } from "../../../src/store/journal/signals/Notices.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { Timers } from "../../../src/store/journal/Timers.ts"
import { ground, stores, until } from "../../stores.ts"

const said = (name: string): NewEvent => ({ kind: "secret.set", body: { name } })
const nameOf = (event: Event) => (event.kind === "secret.set" ? event.body.name : event.kind)

const all = Effect.gen(function* () {
  return (yield* (yield* Journal).read({ after: 0, limit: 10_000 })).map(nameOf)
})
const empty = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM journal`
  yield* (yield* Journal).readAnew
  yield* sql`DELETE FROM answers`
})
/** A row of its own for a transaction, in a table that happens to be there. */
const insert = (key: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`INSERT INTO answers ${sql.insert({ principal: "p", key, request: "", createdAt: "" })}`,
  )

/** An event that belongs to no transaction does not compile. */
export const outside = (journal: Journal["Service"]): void => {
  // @effect-diagnostics missingEffectContext:off
  // @ts-expect-error: Transaction is missing
  Effect.runFork(journal.append(said("nowhere")))
}

for (const [name, store] of stores)
  layer(ground(store), { excludeTestServices: true })(`journal on ${name}`, (it) => {
    it.effect("an event dies with its transaction", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        yield* journal.transact(Effect.andThen(insert("1"), journal.append(said("kept"))))
        const error = yield* journal
          .transact(Effect.andThen(journal.append(said("lost")), Effect.fail("refused" as const)))
          .pipe(Effect.flip)
        assert.strictEqual(error, "refused")
        yield* journal.transact(Effect.andThen(journal.append(said("lost")), Effect.die("broken"))).pipe(Effect.exit)
        const fiber = yield* Effect.forkChild(
          journal.transact(Effect.andThen(journal.append(said("lost")), Effect.never)),
          { startImmediately: true },
        )
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* all, ["kept"])
      }),
    )

    it.effect("the events of calls, which are read as they were written, are what decoding them would give", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const call = { call: newId<CallId>("call"), tool: "t", principal: newId<PrincipalId>("prn") }
        const error = { tag: "ToolExecutionError", message: "no" }
        const settled = { ...call, error, rule: null, durationMs: 3, state: "failed" as const }
        yield* journal.transact(
          Effect.andThen(
            journal.append({ kind: "call.received", body: call, actor: call.principal }),
            journal.append({ kind: "call.settled", body: settled, actor: call.principal }),
          ),
        )
        const events = yield* journal.read({ after: 0, limit: 10 })
        assert.lengthOf(events, 2)
        for (const event of events) {
          const codec = Schema.toCodecJson(eventSchemas[event.kind]) as Schema.Codec<Event, unknown>
          assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(event)), event)
        }
      }),
    )

    it.effect("a nested transaction that fails takes its own events with it and no others", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        yield* journal.transact(
          Effect.gen(function* () {
            yield* journal.append(said("outer 1"))
            yield* journal.transact(journal.append(said("inner kept")))
            yield* Effect.ignore(
              journal.transact(
                Effect.gen(function* () {
                  yield* insert("lost")
                  yield* journal.append(said("inner lost"))
                  return yield* Effect.fail("no")
                }),
              ),
            )
            yield* journal.append(said("outer 2"))
          }),
        )
        assert.deepStrictEqual(yield* all, ["outer 1", "inner kept", "outer 2"])
        const sql = yield* SqlClient.SqlClient
        assert.lengthOf(yield* sql`SELECT key FROM answers`, 0)
      }),
    )

    it.effect("what a transaction changed in this process is taken back with it, and only then", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const undone: Array<string> = []
        const mark = (name: string) => journal.onRollback(() => void undone.push(name))
        yield* journal.transact(Effect.andThen(mark("committed"), journal.transact(mark("within"))))
        assert.deepStrictEqual(undone, [])
        const inner = journal.transact(Effect.andThen(mark("inner"), Effect.fail("no")))
        yield* journal.transact(Effect.andThen(mark("outer"), Effect.ignore(inner)))
        assert.deepStrictEqual(undone.splice(0), ["inner"])
        yield* journal
          .transact(Effect.andThen(journal.transact(mark("done within")), Effect.fail("no")))
          .pipe(Effect.ignore)
        assert.deepStrictEqual(undone, ["done within"])
      }),
    )

    it.effect("an event cannot slip out of the savepoint it belongs to, nor out of a transaction that has ended", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const slipped = yield* journal
          .transact(Effect.exit(sql.withTransaction(journal.append(said("slipped")))))
          .pipe(Effect.map((exit) => exit._tag))
        assert.strictEqual(slipped, "Failure")
        const late = yield* journal.transact(
          Effect.map(Effect.context<Transaction>(), (context) => Effect.provide(journal.append(said("late")), context)),
        )
        assert.strictEqual((yield* Effect.exit(late))._tag, "Failure")
        assert.deepStrictEqual(yield* all, [])
      }),
    )

    it.effect("what runs after a commit appends in a transaction of its own", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        yield* journal.transact(
          Effect.andThen(
            journal.append(said("first")),
            sql.afterCommit(journal.transact(journal.append(said("second")))),
          ),
        )
        assert.deepStrictEqual(yield* all, ["first", "second"])
      }),
    )

    it.effect("a body's own SQL failure is a failure that its caller can name", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        yield* insert("taken")
        const error = yield* journal.transact(insert("taken")).pipe(Effect.flip)
        assert.strictEqual(error.reason._tag, "UniqueViolation")
      }),
    )

    it.effect("takes more events in one transaction than a statement has parameters", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const names = Array.from({ length: 7000 }, (_, n) => `${n}`)
        yield* journal.transact(Effect.forEach(names, (one) => journal.append(said(one)), { discard: true }))
        assert.deepStrictEqual(yield* all, names)
      }),
    )

    it.effect("a rare kind is found however far back it is, in order and no more than asked for", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const from = yield* journal.end
        const provenance = "house" as const
        const cause = { actor: null, provenance, correlationId: newCorrelation(), at: "2026-01-01T00:00:00.000Z" }
        const rare = [0, 9_999, 10_000, 10_001, 24_999]
        const events = Array.from({ length: 25_000 }, (_, at): CausedEvent => {
          const name = String(at)
          return rare.includes(at)
            ? { ...cause, kind: "secret.removed", body: { name } }
            : { ...cause, kind: "secret.set", body: { name } }
        })
        for (let at = 0; at < events.length; at += 5000) yield* journal.writeTogether([], events.slice(at, at + 5000))
        yield* journal.readAnew
        const read = (after: number, limit: number) =>
          Effect.map(journal.read({ after, kinds: ["secret.removed"], limit }), (found) =>
            found.map((one) => (one.kind === "secret.removed" ? Number(one.body.name) : NaN)),
          )
        assert.deepStrictEqual(yield* read(from, 100), rare)
        assert.deepStrictEqual(yield* read(from, 3), rare.slice(0, 3))
        const [second] = (yield* journal.read({ after: from, kinds: ["secret.removed"], limit: 2 })).slice(1)
        assert.deepStrictEqual(yield* read(second!.cursor, 100), rare.slice(2))
        assert.deepStrictEqual(yield* journal.read({ after: from, kinds: [], limit: 5 }), [])
        // What is gone lies between them: they are kept longer, and stand below the floor.
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM journal WHERE kind = 'secret.set' AND cursor < ${from + 24_000}`
        yield* sql`UPDATE journal_floor SET cursor = ${from + 23_999}`
        yield* journal.readAnew
        assert.deepStrictEqual(yield* read(from, 100), rare)
        yield* sql`UPDATE journal_floor SET cursor = 0`
        yield* empty
      }),
    )

    it.effect("a reader that follows the cursor misses nothing while long and short transactions interleave", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const before = yield* journal.end
        const pause = sql.onDialectOrElse({ pg: () => sql`SELECT pg_sleep(0.003)`, orElse: () => sql`SELECT 1` })
        const writer = (n: number) =>
          Effect.forEach(
            Array.from({ length: 25 }, (_, i) => `${n}/${i}`),
            (one) =>
              n % 2 === 0
                ? journal.transact(journal.append(said(one)))
                : // Long: the event is written, and its transaction goes on.
                  sql.withTransaction(Effect.andThen(journal.transact(journal.append(said(one))), pause)),
          )
        const seen: Array<string> = []
        let cursor = before
        const follow = Effect.gen(function* () {
          const events = yield* journal.read({ after: cursor, limit: 7 })
          seen.push(...events.map(nameOf))
          cursor = events.at(-1)?.cursor ?? cursor
          return seen.length === 200
        })
        const reader = yield* Effect.forkChild(until(follow))
        yield* Effect.forEach([...Array(8).keys()], writer, { concurrency: "unbounded" })
        yield* Fiber.join(reader)
        assert.deepStrictEqual(seen, yield* all)
      }),
    )

    if (name === "postgres") {
      /** A transaction that stays open after its insert until it is told to end. */
      const holding = <E, R>(write: Effect.Effect<unknown, E, R>) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const written = yield* Deferred.make<void>()
          const end = yield* Deferred.make<void>()
          const fiber = yield* sql
            .withTransaction(
              Effect.andThen(write, Effect.andThen(Deferred.succeed(written, undefined), Deferred.await(end))),
            )
            .pipe(Effect.forkChild)
          yield* Deferred.await(written)
          return { finish: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)) }
        })

      it.effect("where nobody else can be on the database nobody is notified; where somebody may be, they are", () =>
        Effect.gen(function* () {
          const heard: Array<string> = []
          const listening = yield* Deferred.make<void>()
          yield* (yield* Notices).listen("journal", (payload) => {
            heard.push(payload)
            // It begins with an empty one.
            Deferred.doneUnsafe(listening, Effect.void)
          })
          yield* Deferred.await(listening)
          const shared = yield* Journal
          const context = yield* Layer.build(
            Layer.fresh(Journal.layer).pipe(Layer.provide(Layer.succeed(SharedDatabase, false))),
          )
          const alone = Context.get(context, Journal)
          const before = heard.length
          for (const journal of [alone, shared]) yield* journal.transact(journal.append(said("told")))
          yield* until(Effect.sync(() => heard.length > before))
          // Notices come in the order of their commits: there was one, and it says how far.
          assert.lengthOf(heard, before + 1)
          assert.strictEqual(heard.at(-1)!.split(" ")[1], String(yield* shared.committed))
        }),
      )

      it.effect("a later event is not seen before an earlier one, even if its transaction is done first", () =>
        Effect.gen(function* () {
          yield* empty
          const journal = yield* Journal
          const sql = yield* SqlClient.SqlClient
          const { finish } = yield* holding(journal.transact(journal.append(said("slow"))))
          const quick = yield* Effect.forkChild(journal.transact(journal.append(said("quick"))))
          yield* until(
            Effect.map(
              sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
              (rows) => rows.length === 1,
            ),
          )
          assert.deepStrictEqual(yield* all, [])
          yield* finish
          yield* Fiber.join(quick)
          assert.deepStrictEqual(yield* all, ["slow", "quick"])
        }),
      )

      it.effect("without the lock a reader would miss an event: the same two transactions with a bare INSERT", () =>
        Effect.gen(function* () {
          yield* empty
          const journal = yield* Journal
          const sql = yield* SqlClient.SqlClient
          const bare = (one: string) =>
            sql`INSERT INTO journal ${sql.insert({ kind: "secret.set", at: "2026-01-01T00:00:00.000Z", provenance: "house", correlationId: newCorrelation(), body: JSON.stringify({ name: one }) })}`
          const { finish } = yield* holding(bare("slow"))
          yield* sql.withTransaction(bare("quick"))
          const first = yield* journal.read({ after: 0, limit: 10 })
          assert.deepStrictEqual(first.map(nameOf), ["quick"])
          yield* finish
          const next = yield* journal.read({ after: first.at(-1)!.cursor, limit: 10 })
          assert.deepStrictEqual(next, [])
          assert.deepStrictEqual(yield* all, ["slow", "quick"])
        }),
      )
    }
  })

for (const [name, store] of stores)
  layer(ground(store))(`journal over time on ${name}`, (it) => {
    it.effect("G-28 an event of an older format is read in the newest, and stays as it was written", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        // As a program wrote it that called the name a title.
        const older = {
          kind: "secret.set",
          at: "2026-01-01T00:00:00.000Z",
          provenance: "house",
          correlationId: newCorrelation(),
          body: JSON.stringify({ title: "older" }),
        }
        yield* sql`INSERT INTO journal ${sql.insert(older)}`
        yield* journal.readAnew
        const format = kinds["secret.set"] as { upgrades: ReadonlyArray<unknown> }
        const before = format.upgrades
        format.upgrades = [({ title, ...rest }: { title: string }) => ({ ...rest, name: title })]
        yield* Effect.gen(function* () {
          yield* journal.transact(journal.append(said("newer")))
          const written = yield* sql<{
            version: number
            body: string
          }>`SELECT version, body FROM journal ORDER BY cursor`
          assert.deepStrictEqual(
            written.map(({ body, version }) => [version, body]),
            [
              [1, '{"title":"older"}'],
              [2, '{"name":"newer"}'],
            ],
          )
          // From the table, and from memory where there is one.
          for (const again of [journal.readAnew, Effect.void]) {
            yield* again
            const events = yield* journal.read({ after: 0, limit: 10 })
            assert.deepStrictEqual(
              events.map(({ body, version }) => [version, body]),
              [
                [2, { name: "older" }],
                [2, { name: "newer" }],
              ],
            )
          }
        }).pipe(Effect.ensuring(Effect.sync(() => void (format.upgrades = before))))
      }),
    )

    it.effect("keeps each kind for its days, and longer what a reader has not read; the floor says what is gone", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const fired = (purpose: string): NewEvent => ({
          kind: "timer.fired",
          body: { timer: newId("tmr"), purpose, payload: null },
        })
        const put = (event: NewEvent) => journal.transact(journal.append(event))
        const cursors = Effect.map(journal.read({ after: 0, limit: 100 }), (events) =>
          events.map((e) => [e.cursor, e.kind]),
        )
        yield* put(fired("read"))
        yield* put(said("kept for a year"))
        yield* put(fired("unread"))
        const [first, year, unread] = (yield* journal.read({ after: 0, limit: 10 })).map((event) => event.cursor)
        yield* sql`INSERT INTO readers ${sql.insert({ name: "slow", cursor: year!, movedAt: "" })}`
        yield* TestClock.adjust("6 days")
        assert.strictEqual(yield* journal.retain, 0)
        yield* TestClock.adjust("2 days")
        yield* put(fired("young"))
        assert.strictEqual(yield* journal.retain, 1)
        assert.deepStrictEqual(yield* cursors, [
          [year, "secret.set"],
          [unread, "timer.fired"],
          [unread! + 1, "timer.fired"],
        ])
        assert.strictEqual(yield* journal.floor, first)
        yield* sql`UPDATE readers SET cursor = ${unread! + 1} WHERE name = 'slow'`
        assert.strictEqual(yield* journal.retain, 1)
        assert.strictEqual(yield* journal.floor, unread)
        // Emptied, the journal still ends where it ended.
        const end = yield* journal.end
        yield* TestClock.adjust("400 days")
        assert.strictEqual(yield* journal.retain, 2)
        assert.strictEqual(yield* journal.end, end)
        yield* put(said("next"))
        assert.isAbove(yield* journal.end, end)
        yield* sql`DELETE FROM readers`
      }),
    )

    it.effect(
      "an event with a wrong time keeps older ones from nothing, and is removed when its own days are over",
      () =>
        Effect.gen(function* () {
          yield* empty
          const journal = yield* Journal
          const sql = yield* SqlClient.SqlClient
          const put = Effect.fnUntraced(function* (purpose: string) {
            yield* journal.transact(
              journal.append({ kind: "timer.fired", body: { timer: newId("tmr"), purpose, payload: null } }),
            )
            return yield* journal.end
          })
          const left = Effect.map(journal.read({ after: 0, limit: 100 }), (events) =>
            events.map(({ cursor }) => cursor),
          )
          yield* put("old")
          const [second, third] = [yield* put("from a clock that was ahead"), yield* put("old, too")]
          // Far behind each other: there was a lot between them that is gone.
          const [stray, far] = [second + 12_000, third + 25_000]
          yield* sql`UPDATE journal SET cursor = ${far} WHERE cursor = ${third}`
          const at = DateTime.formatIso(DateTime.add(yield* DateTime.now, { days: 30 }))
          yield* sql`UPDATE journal SET at = ${at}, cursor = ${stray} WHERE cursor = ${second}`
          yield* sql`INSERT INTO readers ${sql.insert({ name: "ahead", cursor: far + 1, movedAt: "" })}`
          yield* journal.readAnew
          yield* TestClock.adjust("8 days")
          assert.strictEqual(yield* journal.retain, 2)
          assert.deepStrictEqual(yield* left, [stray])
          yield* TestClock.adjust("30 days")
          assert.strictEqual(yield* journal.retain, 1)
          assert.deepStrictEqual(yield* left, [])
          yield* sql`DELETE FROM readers`
          // The next one is written behind all of them, as by a house that goes on.
          yield* sql.onDialectOrElse({
            pg: () => sql`SELECT setval(pg_get_serial_sequence('journal', 'cursor'), ${far})`,
            orElse: () => sql`UPDATE sqlite_sequence SET seq = ${far} WHERE name = 'journal'`,
          })
        }),
    )

    it.effect("G-39: one correlation id goes from the request through its transaction, its timer and its reader", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const readers = yield* Readers
        const timers = Context.get(yield* Layer.build(Timers.layer), Timers)
        const heard = yield* Deferred.make<void>()
        yield* Effect.forkScoped(
          readers.run({
            name: "correlated",
            atomic: false,
            handle: ([event]) =>
              event?.kind === "timer.fired"
                ? Effect.andThen(
                    journal.transact(journal.append(said("by the reader"))),
                    Deferred.succeed(heard, undefined),
                  )
                : Effect.void,
          }),
        )
        yield* Effect.forkScoped(
          readers.run({
            name: "correlated at once",
            atomic: true,
            handle: (events) =>
              Effect.forEach(
                events.filter((event) => nameOf(event) === "by the reader"),
                (event) => becauseOf(event, journal.append(said("by the atomic reader"))),
                { discard: true },
              ),
          }),
        )
        const request = { correlationId: newCorrelation(), actor: null, provenance: "person" } as const
        const dueAt = DateTime.add(yield* DateTime.now, { seconds: 30 })
        yield* causedBy(
          request,
          journal.transact(
            Effect.gen(function* () {
              yield* journal.append(said("by the request"))
              yield* timers.set({ purpose: "test", dueAt, payload: null })
            }),
          ),
        )
        yield* until(Effect.andThen(TestClock.adjust("1 second"), Deferred.isDone(heard)))
        yield* readers.receipt("correlated at once")
        const events = yield* journal.read({ after: 0, limit: 100 })
        assert.deepStrictEqual(events.map(nameOf), [
          "by the request",
          "timer.fired",
          "by the reader",
          "by the atomic reader",
        ])
        assert.deepStrictEqual(new Set(events.map((event) => event.correlationId)), new Set([request.correlationId]))
        // Another request is another story.
        yield* journal.transact(journal.append(said("of the house")))
        assert.notStrictEqual(
          (yield* journal.read({ after: 0, limit: 100 })).at(-1)?.correlationId,
          request.correlationId,
        )
      }),
    )
  })
