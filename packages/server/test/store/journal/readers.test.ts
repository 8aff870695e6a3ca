/** Named readers: each keeps its place, nothing is skipped, and another process goes on where one was killed. */
import { assert, layer } from "@effect/vitest"
import type { Event, NewEvent } from "@stoa/contract"
import { Clock, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { EventRow } from "../../../src/store/journal/events/eventRows.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { makeCommitNews } from "../../../src/store/journal/events/commitNews.ts"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { ground, opened, openings, places, quiet, stores, until } from "../../stores.ts"

const said = (name: string): NewEvent => ({ kind: "secret.set", body: { name } })
const nameOf = (event: Event) => (event.kind === "secret.set" ? event.body.name : event.kind)
const say = (...names: ReadonlyArray<string>) =>
  Effect.flatMap(Journal, (journal) =>
    journal.transact(Effect.forEach(names, (name) => journal.append(said(name)), { discard: true })),
  )
const empty = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM journal`
  yield* (yield* Journal).readAnew
  yield* sql`DELETE FROM readers`
  yield* sql`DELETE FROM answers`
})

for (const [name, store] of stores)
  layer(Layer.merge(ground(store), quiet))(`readers on ${name}`, (it) => {
    /** Runs a reader that notes what it sees, as long as the scope lives. */
    const noting = (reader: string, seen: Array<string>) =>
      Effect.flatMap(Readers, (readers) =>
        Effect.forkScoped(
          readers.run({
            name: reader,
            atomic: false,
            handle: (events) => Effect.sync(() => void seen.push(...events.map(nameOf))),
          }),
        ),
      )

    it.effect("a bell for what concerns it is not rung by the rest, and says how far that went", () =>
      Effect.gen(function* () {
        yield* empty
        const journal = yield* Journal
        const bell = journal.bellOf(["secret.set"], (event) => nameOf(event).startsWith("mine"))
        yield* say("mine 1")
        const heard = bell.rung
        yield* say("another's", "another's too")
        yield* say("another's again")
        assert.strictEqual(bell.rung, heard)
        const passed = yield* journal.end
        assert.strictEqual(bell.quietAfter(heard), passed)
        yield* say("another's", "mine 2")
        assert.strictEqual(bell.rung, heard + 1)
        // Whoever was woken by this ring asks a moment later, when others have been there again.
        yield* say("another's at last")
        assert.strictEqual(bell.quietAfter(heard), passed)
        assert.strictEqual(bell.quietAfter(heard + 1), yield* journal.end)
        assert.strictEqual(bell.quietAfter(heard + 2), 0)
      }),
    )

    it.effect("nobody passes over what is committed and not told yet: commits may be told out of order", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const news = yield* makeCommitNews("jnl_1")
          const bell = news.bellOf(["secret.set"], (event) => nameOf(event).startsWith("mine"))
          const rowOf = (name: string): EventRow => ({
            kind: "secret.set",
            version: 1,
            at: "2026-01-01T00:00:00.000Z",
            space: null,
            actor: null,
            provenance: "house",
            correlationId: "0".repeat(32),
            body: JSON.stringify({ name }),
          })
          for (const from of [1_000_020, 1_000_040]) {
            const heard = bell.rung
            // The later one is told first, and the tail begins with it.
            news.tell([rowOf("another's")], [{ cursor: from + 1 }])
            assert.isBelow(bell.quietAfter(heard), from)
            news.tell([rowOf("mine")], [{ cursor: from }])
            // On Postgres the table is asked what is missing, once the tail has begun.
            if (name === "sqlite" || from === 1_000_020) assert.isAbove(bell.rung, heard)
            assert.isBelow(bell.quietAfter(heard), from)
            assert.isBelow(bell.quietAfter(bell.rung), from)
          }
        }),
      ),
    )

    it.effect("a reader of what concerns it gets all of that, once and in order, however much lies between", () =>
      Effect.gen(function* () {
        yield* empty
        const readers = yield* Readers
        const [handled, asked]: [Array<string>, Array<string>] = [[], []]
        const isMine = (event: Event) => {
          asked.push(nameOf(event))
          return nameOf(event).startsWith("mine")
        }
        yield* Effect.forkScoped(
          readers.run({
            name: "choosy",
            atomic: true,
            kinds: ["secret.set"],
            concerns: isMine,
            handle: (events) => Effect.sync(() => void handled.push(...events.filter(isMine).map(nameOf))),
          }),
        )
        yield* readers.receipt("choosy")
        const wanted: Array<string> = []
        for (let round = 0; round < 4; round++) {
          // More than the newest events that are held in memory.
          for (let part = 0; part < 3; part++)
            yield* say(...Array.from({ length: 500 }, (_, at) => `other ${round} ${part} ${at}`))
          wanted.push(`mine ${round}`)
          yield* say("other", `mine ${round}`, "other")
          yield* until(Effect.sync(() => handled.length === wanted.length))
        }
        assert.deepStrictEqual(handled, wanted)
        // Each was looked at when it was told; those that did not concern it were not read again.
        const others = asked.filter((one) => one.startsWith("other 3 1 "))
        assert.strictEqual(others.length, 500)
        yield* readers.receipt("choosy")
        const [state] = (yield* readers.list).filter((one) => one.name === "choosy")
        assert.isAtLeast(state!.cursor, 1500)
      }),
    )

    it.effect("two names keep separate places, and a second pass sees nothing", () =>
      Effect.gen(function* () {
        yield* empty
        const readers = yield* Readers
        const [one, two, again]: [Array<string>, Array<string>, Array<string>] = [[], [], []]
        yield* say("a", "b")
        yield* Effect.scoped(Effect.andThen(noting("one", one), readers.receipt("one")))
        yield* say("c")
        yield* Effect.scoped(Effect.andThen(noting("two", two), readers.receipt("two")))
        assert.deepStrictEqual(
          [one, two],
          [
            ["a", "b"],
            ["a", "b", "c"],
          ],
        )
        yield* Effect.scoped(Effect.andThen(noting("two", again), readers.receipt("two")))
        assert.deepStrictEqual(again, [])
        yield* Effect.scoped(Effect.andThen(noting("one", again), readers.receipt("one")))
        assert.deepStrictEqual(again, ["c"])
        const end = yield* (yield* Journal).end
        assert.deepStrictEqual(yield* readers.list, [
          { name: "one", cursor: end, failure: null },
          { name: "two", cursor: end, failure: null },
        ])
      }),
    )

    it.effect("a receipt waits for the reader, and reports no more than it has done", () =>
      Effect.gen(function* () {
        yield* empty
        const readers = yield* Readers
        const gate = yield* Deferred.make<void>()
        let handled = 0
        yield* Effect.forkScoped(
          readers.run({
            name: "gated",
            atomic: false,
            handle: () =>
              Effect.andThen(
                Deferred.await(gate),
                Effect.sync(() => void handled++),
              ),
          }),
        )
        yield* say("a", "b", "c")
        const receipt = yield* Effect.forkChild(readers.receipt("gated"))
        yield* until(Effect.succeed(handled === 0))
        assert.isUndefined(receipt.pollUnsafe())
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(receipt)
        assert.strictEqual(handled, 3)
      }),
    )

    it.effect(
      "a failing handler is reported, tried again, and skips nothing; what came before it is not repeated",
      () =>
        Effect.gen(function* () {
          yield* empty
          const readers = yield* Readers
          const seen: Array<string> = []
          let broken = true
          yield* Effect.forkScoped(
            readers.run({
              name: "failing",
              atomic: false,
              handle: ([event]) =>
                broken && nameOf(event!) === "c"
                  ? Effect.fail("c is too much")
                  : Effect.sync(() => void seen.push(nameOf(event!))),
            }),
          )
          yield* say("a", "b", "c", "d")
          const failure = Effect.map(readers.list, ([reader]) => reader?.failure ?? null)
          yield* until(Effect.map(failure, (text) => text?.includes("c is too much") === true))
          yield* until(Effect.andThen(TestClock.adjust("10 seconds"), Effect.succeed(seen.length === 2)))
          broken = false
          const receipt = yield* Effect.forkChild(readers.receipt("failing"))
          yield* until(Effect.map(TestClock.adjust("10 seconds"), () => receipt.pollUnsafe() !== undefined))
          assert.deepStrictEqual(seen, ["a", "b", "c", "d"])
          assert.isNull(yield* failure)
        }),
    )

    it.effect("a reader that gathers takes what comes together at once, and hurries for a receipt", () =>
      Effect.gen(function* () {
        yield* empty
        const readers = yield* Readers
        const batches: Array<ReadonlyArray<string>> = []
        yield* Effect.forkScoped(
          readers.run({
            name: "gathering",
            atomic: true,
            gather: "1 minute",
            handle: (events) => Effect.sync(() => void batches.push(events.map(nameOf))),
          }),
        )
        yield* say("a")
        yield* readers.receipt("gathering")
        assert.deepStrictEqual(batches.flat(), ["a"])
        // It rests before the next, however often it is rung meanwhile.
        yield* say("b")
        yield* say("c")
        yield* TestClock.adjust("1 minute")
        yield* until(Effect.sync(() => batches.length > 1))
        assert.deepStrictEqual(batches.slice(1), [["b", "c"]])
        // One that has nothing to read does so, too: whoever writes first has better to do than to wait for it.
        yield* TestClock.adjust("1 minute")
        yield* say("d")
        yield* say("e")
        yield* readers.receipt("gathering")
        assert.deepStrictEqual(batches.slice(2), [["d", "e"]])
      }),
    )

    it.effect("a reader that looks at rows first handles what is left, and goes past the rest without a write", () =>
      Effect.gen(function* () {
        yield* empty
        const readers = yield* Readers
        const sql = yield* SqlClient.SqlClient
        const seen: Array<string> = []
        yield* Effect.forkScoped(
          readers.run({
            name: "looking",
            atomic: true,
            actsOn: (events) => Effect.succeed(events.filter((event) => nameOf(event).startsWith("mine"))),
            handle: (events) => Effect.sync(() => void seen.push(...events.map(nameOf))),
          }),
        )
        yield* say("mine 1", "another's")
        yield* readers.receipt("looking")
        const cursor = Effect.map(
          sql<{ cursor: number }>`SELECT cursor FROM readers WHERE name = 'looking'`,
          (rows) => rows[0]!.cursor,
        )
        const written = yield* cursor
        yield* say("another's again")
        yield* readers.receipt("looking")
        yield* say("mine 2")
        yield* readers.receipt("looking")
        assert.deepStrictEqual(seen, ["mine 1", "mine 2"])
        assert.strictEqual(yield* cursor, yield* (yield* Journal).end)
        assert.isAbove(yield* cursor, written)
      }),
    )

    it.effect("an atomic reader's writes and its cursor commit together, or not at all", () =>
      Effect.gen(function* () {
        yield* empty
        const readers = yield* Readers
        const sql = yield* SqlClient.SqlClient
        let failures = 0
        yield* Effect.forkScoped(
          readers.run({
            name: "atomic",
            atomic: true,
            handle: (events) =>
              Effect.gen(function* () {
                for (const event of events) {
                  const row = { principal: "p", key: nameOf(event), request: "", createdAt: "" }
                  yield* sql`INSERT INTO answers ${sql.insert(row)}`
                }
                // After the writes: without a common transaction the next try would find the keys taken.
                if (failures < 3) return yield* Effect.fail(`failure ${++failures}`)
              }),
          }),
        )
        yield* say("a", "b", "c")
        const receipt = yield* Effect.forkChild(readers.receipt("atomic"))
        yield* until(Effect.map(TestClock.adjust("10 seconds"), () => receipt.pollUnsafe() !== undefined))
        const rows = yield* sql<{ key: string }>`SELECT key FROM answers ORDER BY key`
        assert.deepStrictEqual(
          rows.map((row) => row.key),
          ["a", "b", "c"],
        )
        assert.strictEqual(failures, 3)
      }),
    )

    it.effect("two readers of one name in one process are a mistake", () =>
      Effect.gen(function* () {
        const readers = yield* Readers
        const twice = { name: "twice", atomic: false, handle: () => Effect.void }
        yield* Effect.forkScoped(readers.run(twice), { startImmediately: true })
        assert.isTrue(Exit.hasDies(yield* Effect.exit(readers.run(twice))))
      }),
    )
  })

for (const [name, place] of places)
  layer(quiet)(`readers of two processes on ${name}`, (it) => {
    /** Runs an effect as one of several processes on the same database. */
    const processes = Effect.map(openings(name, place), (layer) =>
      Effect.map(
        opened(layer),
        (context) =>
          <A, E, R>(effect: Effect.Effect<A, E, R>) =>
            Effect.provide(effect, context),
      ),
    )
    const reading = (atomic: boolean, handle: (event: Event) => Effect.Effect<void, unknown, SqlClient.SqlClient>) =>
      Effect.flatMap(Readers, (readers) =>
        Effect.forkScoped(
          readers.run({ name: "work", atomic, handle: (events) => Effect.forEach(events, handle, { discard: true }) }),
        ),
      )
    const received = Effect.flatMap(Readers, (readers) => readers.receipt("work"))
    /** The clock of a process that was stopped: it neither renews its lease nor knows that it has ended. */
    const stopped = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(TestClock.make(), (clock) => Effect.provideService(effect, Clock.Clock, clock))

    if (name === "postgres")
      it.effect(
        "another process takes over once the lease has run out: at least once, and the late one changes nothing",
        () =>
          Effect.gen(function* () {
            const open = yield* processes
            const [first, second] = [yield* open, yield* open]
            const [inside, wake] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
            const seen: Array<string> = []
            yield* first(say("a", "b", "c"))
            yield* first(
              stopped(
                reading(false, (event) =>
                  Effect.gen(function* () {
                    seen.push(`first ${nameOf(event)}`)
                    if (nameOf(event) !== "b") return
                    yield* Deferred.succeed(inside, undefined)
                    yield* Deferred.await(wake)
                  }),
                ),
              ),
            )
            yield* Deferred.await(inside)
            yield* second(reading(false, (event) => Effect.sync(() => void seen.push(`second ${nameOf(event)}`))))
            yield* TestClock.adjust("10 seconds")
            assert.deepStrictEqual(seen, ["first a", "first b"])
            const receipt = yield* Effect.forkChild(second(received))
            yield* until(Effect.map(TestClock.adjust("1 second"), () => receipt.pollUnsafe() !== undefined))
            assert.deepStrictEqual(seen, ["first a", "first b", "second a", "second b", "second c"])
            // The first wakes up, finds its lease gone, and leaves the place where the second put it.
            yield* Deferred.succeed(wake, undefined)
            yield* second(say("d"))
            const next = yield* Effect.forkChild(second(received))
            yield* until(Effect.map(TestClock.adjust("1 second"), () => next.pollUnsafe() !== undefined))
            assert.deepStrictEqual(
              seen.filter((one) => one.startsWith("second")),
              ["second a", "second b", "second c", "second d"],
            )
            const states = yield* second(Effect.flatMap(Readers, (readers) => readers.list))
            assert.strictEqual(states[0]!.cursor, yield* second(Effect.flatMap(Journal, (journal) => journal.end)))
          }),
      )

    if (name === "postgres")
      it.effect("an atomic reader handles each event exactly once, though both processes were inside it", () =>
        Effect.gen(function* () {
          const open = yield* processes
          const [first, second] = [yield* open, yield* open]
          const [inside, wake] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const write = (by: string, event: Event) =>
            Effect.flatMap(
              SqlClient.SqlClient,
              (sql) =>
                sql`INSERT INTO answers ${sql.insert({ principal: nameOf(event), key: by, request: "", createdAt: "" })}`,
            )
          yield* first(say("a", "b"))
          const late = yield* first(
            stopped(
              reading(true, (event) =>
                Effect.andThen(
                  write("first", event),
                  Effect.andThen(Deferred.succeed(inside, undefined), Deferred.await(wake)),
                ),
              ),
            ),
          )
          yield* Deferred.await(inside)
          yield* second(reading(true, (event) => write("second", event)))
          const receipt = yield* Effect.forkChild(second(received))
          yield* until(Effect.map(TestClock.adjust("5 seconds"), () => receipt.pollUnsafe() !== undefined))
          yield* Deferred.succeed(wake, undefined)
          const failure = second(
            Effect.map(
              Effect.flatMap(Readers, (readers) => readers.list),
              ([one]) => one!.failure,
            ),
          )
          yield* until(Effect.map(failure, (text) => text?.includes("lost its lease") === true))
          yield* Fiber.interrupt(late)
          const rows = yield* second(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT principal, key FROM answers ORDER BY principal`),
          )
          assert.deepStrictEqual(rows, [
            { principal: "a", key: "second" },
            { principal: "b", key: "second" },
          ])
        }),
      )

    it.effect("a process that stops hands over at once, and a receipt is given for another process's reading", () =>
      Effect.gen(function* () {
        const open = yield* processes
        const seen: Array<string> = []
        yield* Effect.scoped(
          Effect.gen(function* () {
            const first = yield* open
            yield* first(say("a"))
            yield* first(reading(false, (event) => Effect.sync(() => void seen.push(nameOf(event)))))
            yield* first(received)
          }),
        )
        const [second, third] = [yield* open, yield* open]
        yield* second(say("b"))
        yield* second(reading(false, (event) => Effect.sync(() => void seen.push(nameOf(event)))))
        // No time passes: the first has given its lease back.
        yield* second(received)
        yield* third(received)
        assert.deepStrictEqual(seen, ["a", "b"])
      }),
    )
  })
