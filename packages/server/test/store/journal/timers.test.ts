/** Timers: each fires once, at or after its time, whatever process is there then. */
import { assert, layer } from "@effect/vitest"
import type { TimerId } from "@stoa/contract"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { causedBy, newCorrelation } from "../../../src/store/journal/Correlation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Timers } from "../../../src/store/journal/Timers.ts"
import { opened, openings, places, until } from "../../stores.ts"

const inSeconds = (seconds: number) => Effect.map(DateTime.now, (now) => DateTime.add(now, { seconds }))

const set = Effect.fnUntraced(function* (purpose: string, seconds: number, key?: string) {
  const journal = yield* Journal
  const timers = yield* Timers
  const dueAt = yield* inSeconds(seconds)
  return yield* journal.transact(
    timers.set({
      purpose,
      dueAt,
      payload: { dueAt: DateTime.formatIso(dueAt) },
      ...(key === undefined ? {} : { key }),
    }),
  )
})
const cancel = (id: TimerId) =>
  Effect.flatMap(Journal, (journal) => journal.transact(Effect.flatMap(Timers, (timers) => timers.cancel(id))))

const fired = Effect.gen(function* () {
  const events = yield* (yield* Journal).read({ after: 0, limit: 10_000 })
  return events.flatMap((event) => (event.kind === "timer.fired" ? [event] : []))
})
const purposes = Effect.map(fired, (events) => events.map((event) => event.body.purpose))

/** Lets time pass in steps until so many have fired: whatever waits, waits in virtual time. */
const firing = (count: number) =>
  until(
    Effect.andThen(
      TestClock.adjust("1 second"),
      Effect.map(fired, (events) => events.length >= count),
    ),
  )

for (const [name, place] of places)
  layer(Layer.empty)(`timers on ${name}`, (it) => {
    /** Several processes with timers on one database. */
    const processes = Effect.map(openings(name, place), (floor) => {
      const layer = Timers.layer.pipe(Layer.provideMerge(floor))
      return Effect.map(
        opened(layer),
        (context) =>
          <A, E, R>(effect: Effect.Effect<A, E, R>) =>
            Effect.provide(effect, context),
      )
    })

    it.effect("fires once, not before it is due, in order, and is gone", () =>
      Effect.gen(function* () {
        const house = yield* yield* processes
        yield* house(
          Effect.gen(function* () {
            yield* set("late", 40)
            yield* set("early", 20)
            assert.strictEqual(yield* (yield* Timers).pending, 2)
            yield* firing(2)
            yield* TestClock.adjust("1 minute")
            const events = yield* fired
            assert.deepStrictEqual(
              events.map((event) => event.body.purpose),
              ["early", "late"],
            )
            for (const event of events) {
              const { dueAt } = event.body.payload as { dueAt: string }
              assert.isAtLeast(DateTime.toEpochMillis(event.at), DateTime.toEpochMillis(DateTime.makeUnsafe(dueAt)))
            }
            assert.strictEqual(yield* (yield* Timers).pending, 0)
          }),
        )
      }),
    )

    it.effect("one that was canceled does not fire; one that was moved fires once, as it was set last", () =>
      Effect.gen(function* () {
        const house = yield* yield* processes
        yield* house(
          Effect.gen(function* () {
            const dead = yield* set("canceled", 10)
            assert.isTrue(yield* cancel(dead))
            assert.isFalse(yield* cancel(dead))
            const first = yield* set("moved, first", 10, "one of a kind")
            const request = { correlationId: newCorrelation(), actor: null, provenance: "person" } as const
            const again = yield* causedBy(request, set("moved, again", 100, "one of a kind"))
            assert.strictEqual(again, first)
            yield* set("between", 50)
            yield* firing(2)
            yield* TestClock.adjust("5 minutes")
            const events = yield* fired
            assert.deepStrictEqual(
              events.map((event) => event.body.purpose),
              ["between", "moved, again"],
            )
            assert.strictEqual(events[1]!.correlationId, request.correlationId)
          }),
        )
      }),
    )

    it.effect("one that was moved after it was claimed does not fire early", () =>
      Effect.gen(function* () {
        const house = yield* yield* processes
        yield* house(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* set("claimed", 10, "k")
            // Another process has claimed it and is about to fire.
            const until = DateTime.formatIso(yield* inSeconds(15))
            yield* sql`UPDATE timers SET lease_owner = 'other', lease_until = ${until}`
            yield* set("moved", 60, "k")
            yield* firing(1)
            const [event] = yield* fired
            assert.strictEqual(event!.body.purpose, "moved")
            assert.isAtLeast(
              DateTime.toEpochMillis(event!.at),
              DateTime.toEpochMillis(DateTime.makeUnsafe((event!.body.payload as { dueAt: string }).dueAt)),
            )
          }),
        )
      }),
    )

    if (name === "sqlite")
      it.effect("nor does one that is moved between its claim and its firing", () =>
        Effect.gen(function* () {
          const house = yield* yield* processes
          yield* house(
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              yield* set("claimed", 10, "k")
              // Enough turns of the event loop for the timers to have seen it and to wait for its time.
              for (let turns = 0; turns < 100; turns++) yield* Effect.yieldNow
              // Writers take turns: the claim waits for this one, then the move, and only then the firing.
              const [holding, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
              const holder = yield* Effect.forkChild(
                sql.withTransaction(Effect.andThen(Deferred.succeed(holding, undefined), Deferred.await(gate))),
              )
              yield* Deferred.await(holding)
              yield* TestClock.adjust("11 seconds")
              const move = yield* Effect.forkChild(set("moved", 60, "k"), { startImmediately: true })
              yield* Deferred.succeed(gate, undefined)
              yield* Fiber.joinAll([holder, move])
              yield* firing(1)
              const [event] = yield* fired
              assert.strictEqual(event!.body.purpose, "moved")
              const { dueAt } = event!.body.payload as { dueAt: string }
              assert.isAtLeast(DateTime.toEpochMillis(event!.at), DateTime.toEpochMillis(DateTime.makeUnsafe(dueAt)))
            }),
          )
        }),
      )

    it.effect("what a frozen process had claimed is fired by another, after the lease", () =>
      Effect.gen(function* () {
        const house = yield* yield* processes
        yield* house(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* set("orphan", 1)
            const leased = yield* inSeconds(16)
            // It keeps its session, and so its lock: one that is known to be gone is not waited for.
            yield* sql.onDialectOrElse({
              pg: () =>
                Effect.flatMap(sql.reserve, (session) =>
                  Effect.asVoid(session.executeValues("SELECT pg_advisory_lock(7461003, hashtext('frozen'))", [])),
                ),
              orElse: () => Effect.void,
            })
            yield* sql`INSERT INTO holders ${sql.insert({ id: "frozen", leaseUntil: 1e15 })}`
            yield* sql`UPDATE timers SET lease_owner = 'frozen', lease_until = ${DateTime.formatIso(leased)}`
            yield* firing(1)
            const [event] = yield* fired
            assert.isAtLeast(DateTime.toEpochMillis(event!.at), DateTime.toEpochMillis(leased))
          }),
        )
      }),
    )

    // A folder has one process: two writers of one SQLite file in one event loop would wait for each other.
    if (name !== "sqlite")
      it.effect("two processes fire each timer once", () =>
        Effect.gen(function* () {
          const open = yield* processes
          const [one, two] = [yield* open, yield* open]
          const all = Array.from({ length: 150 }, (_, n) => `${n}`)
          yield* Effect.forEach(all, (purpose, n) => (n % 2 === 0 ? one : two)(set(purpose, 5 + (n % 3))), {
            concurrency: "unbounded",
          })
          yield* one(firing(all.length))
          yield* TestClock.adjust("1 minute")
          assert.deepStrictEqual((yield* one(purposes)).toSorted(), all.toSorted())
          assert.strictEqual(yield* two(Effect.flatMap(Timers, (timers) => timers.pending)), 0)
        }),
      )

    it.effect("one that came due while no process was there fires when the next one starts", () =>
      Effect.gen(function* () {
        const open = yield* processes
        yield* Effect.scoped(Effect.flatMap(open, (first) => first(set("over a restart", 30))))
        yield* TestClock.adjust("1 hour")
        const second = yield* open
        yield* second(firing(1))
        assert.deepStrictEqual(yield* second(purposes), ["over a restart"])
      }),
    )
  })
