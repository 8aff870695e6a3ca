/** Plans fire once when they are due, also when the house was not there: in virtual time, on both databases. */
import { assert, layer } from "@effect/vitest"
import type { PrincipalId, RunId } from "@stoa/contract"
import { DateTime, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Storage } from "../../src/access/limits/Storage.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Meanings } from "../../src/memory/meaning/Meanings.ts"
import { Memories } from "../../src/memory/Memories.ts"
import { layerPlans, type PlanDefinition, Plans } from "../../src/memory/plans/Plans.ts"
import { causedBy, newCorrelation, newId } from "../../src/store/journal/Correlation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Timers } from "../../src/store/journal/Timers.ts"
import { SearchIndex } from "../../src/store/search/SearchIndex.ts"
import { opened, openings, places, until } from "../stores.ts"

const start = DateTime.makeUnsafe("2026-11-16T06:00:00Z")

/** What has fired of plans, as `plan due`. */
const fired = Effect.gen(function* () {
  const events = yield* (yield* Journal).read({ after: 0, limit: 10_000 })
  return events.flatMap((event) =>
    event.kind === "timer.fired" && event.body.purpose === "plan"
      ? [event.body.payload as { plan: string; principal: string; dueAt: string }]
      : [],
  )
})

for (const [name, place] of places)
  layer(Layer.empty)(`plans on ${name}`, (it) => {
    /** A process at a time on one database: `during` has one for as long as its body runs. */
    const house = Effect.gen(function* () {
      const floor = yield* openings(name, place)
      const layers = layerPlans.pipe(
        Layer.provideMerge(Plans.layer),
        Layer.provideMerge(Memories.layer),
        Layer.provide(Layer.succeed(Meanings, { of: () => Effect.succeed(undefined) })),
        Layer.provide(Storage.layer),
        Layer.provideMerge(Layer.mergeAll(Principals.layer("none"), SearchIndex.layer, Timers.layer)),
        Layer.provideMerge(floor),
      )
      const during = Effect.fnUntraced(function* <A, E, R>(body: Effect.Effect<A, E, R>) {
        const scope = yield* Scope.make()
        const context = yield* Effect.provideService(opened(layers), Scope.Scope, scope)
        const out = yield* Effect.provide(body, context)
        yield* Scope.close(scope, Exit.void)
        return out
      })
      yield* TestClock.setTime(DateTime.toEpochMillis(start))
      const owner = yield* during(
        Effect.gen(function* () {
          const { transact } = yield* Journal
          return (yield* transact((yield* Principals).add({ kind: "agent", name: "Planner" }))).id
        }),
      )
      return { during, owner }
    })
    const set = Effect.fnUntraced(function* (owner: PrincipalId, plan: PlanDefinition) {
      const { transact } = yield* Journal
      return yield* transact((yield* Plans).set({ id: owner }, undefined, plan))
    })
    /** Something is due at once: wakes the timers, so that they look at the clock. A timer for later would wake nobody. */
    const nudge = Effect.gen(function* () {
      const { transact } = yield* Journal
      yield* transact((yield* Timers).set({ purpose: "nudge", key: "nudge", dueAt: start, payload: null }))
    })
    /** The plans with their next times, once these are as expected: what was read may not be committed yet. */
    const becomes = Effect.fnUntraced(function* (owner: PrincipalId, expected: ReadonlyArray<string | null>) {
      const { list } = yield* Plans
      const next = Effect.map(list({ id: owner }), (plans) =>
        plans.map(({ nextRunAt }) => nextRunAt?.slice(11, 16) ?? null),
      )
      yield* until(Effect.map(next, (now) => JSON.stringify(now) === JSON.stringify(expected)))
    })
    /** It is this time now; waits until so many have fired. */
    const firing = Effect.fnUntraced(function* (count: number, time: string) {
      yield* TestClock.setTime(DateTime.toEpochMillis(DateTime.makeUnsafe(`2026-11-16T${time}Z`)))
      yield* until(
        Effect.andThen(
          nudge,
          Effect.map(fired, (all) => all.length >= count),
        ),
      )
    })

    it.effect("a record that looks like a plan and is none stops nobody's plans", () =>
      Effect.gen(function* () {
        const { during, owner } = yield* house
        yield* during(
          Effect.gen(function* () {
            const { transact } = yield* Journal
            const memories = yield* Memories
            const more = [
              { cron: 5 },
              { jitter: -1, cron: "* * * * *" },
              { runAfter: {} },
              { missed: "never" },
              { timezone: 1 },
            ]
            for (const one of [...more.map((odd) => ({ name: "x", instruction: "y", ...odd })), null, "text", []])
              yield* transact(
                memories.put({ id: owner }, owner, {
                  namespace: "gateway",
                  kind: "plan",
                  content: JSON.stringify(one),
                }),
              )
            yield* set(owner, { name: "tea", instruction: "Make tea.", runAfter: "1 minute" })
            yield* until(
              Effect.andThen(
                TestClock.adjust("10 seconds"),
                Effect.map(fired, (events) => events.length === 1),
              ),
            )
          }),
        )
      }),
    )

    it.effect("a plan that was written as a record names the run that wrote it, as its timer does", () =>
      Effect.gen(function* () {
        const { during, owner } = yield* house
        yield* during(
          Effect.gen(function* () {
            const { transact } = yield* Journal
            const content = JSON.stringify({ name: "tea", instruction: "Make tea.", runAfter: "10 seconds" })
            const memory = { namespace: "gateway", kind: "plan", content } as const
            const run = newId<RunId>("run")
            const cause = { correlationId: newCorrelation(), actor: owner, provenance: "agent", run } as const
            yield* causedBy(cause, transact((yield* Memories).put({ id: owner }, owner, memory)))
            yield* becomes(owner, ["06:00"])
            yield* firing(1, "06:00:10")
            assert.deepInclude((yield* fired)[0] as object, { principal: owner, run })
          }),
        )
      }),
    )

    it.effect(
      "S1-59 S1-60 a one-shot plan is due once and then completed; a cron plan is due again; the event names plan and time",
      () =>
        Effect.gen(function* () {
          const { during, owner } = yield* house
          yield* during(
            Effect.gen(function* () {
              const once = yield* set(owner, { name: "once", instruction: "look", runAfter: "10 seconds" })
              assert.deepStrictEqual([once.status, once.nextRunAt], ["active", "2026-11-16T06:00:10.000Z"])
              const cron = yield* set(owner, { name: "each minute", instruction: "look", cron: "* * * * *" })
              assert.strictEqual(cron.nextRunAt, "2026-11-16T06:01:00.000Z")
              assert.deepStrictEqual(yield* fired, [])
              yield* firing(1, "06:00:10")
              yield* becomes(owner, ["06:01", null])
              yield* firing(2, "06:01:00")
              yield* becomes(owner, ["06:02", null])
              yield* firing(3, "06:02:00")
              yield* becomes(owner, ["06:03", null])
              assert.deepStrictEqual((yield* fired).slice(0, 3), [
                { plan: once.id, principal: owner, dueAt: "2026-11-16T06:00:10.000Z" },
                { plan: cron.id, principal: owner, dueAt: "2026-11-16T06:01:00.000Z" },
                { plan: cron.id, principal: owner, dueAt: "2026-11-16T06:02:00.000Z" },
              ])
              const { list } = yield* Plans
              assert.deepStrictEqual(
                (yield* list({ id: owner }, "completed")).map(({ id, nextRunAt }) => [id, nextRunAt]),
                [[once.id, null]],
              )
              assert.deepStrictEqual(
                (yield* list({ id: owner }, "active")).map(({ id, nextRunAt }) => [id, nextRunAt]),
                [[cron.id, "2026-11-16T06:03:00.000Z"]],
              )
              const { transact } = yield* Journal
              assert.isTrue(yield* transact((yield* Plans).remove({ id: owner }, cron.id)))
              yield* until(Effect.map((yield* Timers).pending, (left) => left === 0))
              yield* firing(3, "06:12:00")
              yield* nudge
              assert.lengthOf(yield* fired, 3)
            }),
          )
        }),
    )

    it.effect(
      "G-26 S1-60 across hours without a house: one is made up for, or all, or none; a one-shot is not lost",
      () =>
        Effect.gen(function* () {
          const { during, owner } = yield* house
          const ids = yield* during(
            Effect.gen(function* () {
              const hourly = { instruction: "look", cron: "0 * * * *" }
              const made = [
                yield* set(owner, { name: "once", ...hourly, missed: "once" }),
                yield* set(owner, { name: "all", ...hourly, missed: "all" }),
                yield* set(owner, { name: "skip", ...hourly, missed: "skip" }),
                yield* set(owner, { name: "shot", instruction: "look", runAfter: "90 minutes" }),
              ]
              return made.map(({ id }) => id)
            }),
          )
          yield* TestClock.adjust("4 hours")
          yield* TestClock.adjust("20 minutes")
          yield* during(
            Effect.gen(function* () {
              // Of "once" 07:00, of "all" 07:00 to 10:00, of "skip" nothing, and the one-shot: six.
              yield* firing(6, "10:20:00")
              const count = (id: string) => Effect.map(fired, (all) => all.filter(({ plan }) => plan === id).length)
              assert.deepStrictEqual(yield* Effect.forEach(ids, count), [1, 4, 0, 1])
              yield* becomes(owner, ["11:00", "11:00", "11:00", null])
              // In time, the one that skips fires like the others.
              yield* firing(9, "11:00:00")
              yield* becomes(owner, ["12:00", "12:00", "12:00", null])
              assert.deepStrictEqual(yield* Effect.forEach(ids, count), [2, 5, 1, 1])
            }),
          )
        }),
    )

    it.effect(
      "G-26 jitter spreads plans over its seconds, the same after a restart, once each, also for one that skips; times do not drift",
      () =>
        Effect.gen(function* () {
          const { during, owner } = yield* house
          const jitter = 1800
          const timersNow = Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const rows = yield* sql<{
              dueAt: string
              payload: string
            }>`SELECT due_at, payload FROM timers WHERE purpose IN ('plan', 'plan-look') ORDER BY due_at`
            return rows.map(({ dueAt, payload }) => ({
              plan: (JSON.parse(payload) as { plan: string }).plan,
              after: (Date.parse(dueAt) - Date.parse("2026-11-16T07:00:00Z")) / 1000,
            }))
          })
          const names = Array.from({ length: 12 }, (_, n) => `plan ${n}`)
          const first = yield* during(
            Effect.gen(function* () {
              for (const [n, name] of names.entries()) {
                const plan = yield* set(owner, {
                  name,
                  instruction: "look",
                  cron: "0 * * * *",
                  jitter,
                  missed: n % 2 === 0 ? "once" : "skip",
                })
                // What is said of it is when it is due; when it fires is its own affair.
                assert.strictEqual(plan.nextRunAt, "2026-11-16T07:00:00.000Z")
              }
              return yield* timersNow
            }),
          )
          assert.lengthOf(first, 12)
          for (const { after } of first) assert.isTrue(after >= 0 && after <= jitter, String(after))
          assert.isAtLeast(new Set(first.map(({ after }) => after)).size, 8)
          assert.isAbove(first.at(-1)!.after - first[0]!.after, jitter / 4)
          yield* during(
            Effect.gen(function* () {
              assert.deepStrictEqual(yield* timersNow, first)
              // Each at its own second, and none before.
              for (const [n, { after }] of first.entries()) {
                const at = DateTime.add(DateTime.makeUnsafe("2026-11-16T07:00:00Z"), { seconds: after })
                if (after > (first[n - 1]?.after ?? -1)) assert.isAtMost((yield* fired).length, n)
                yield* firing(n + 1, DateTime.formatIso(at).slice(11, 19))
              }
              yield* becomes(
                owner,
                names.map(() => "08:00"),
              )
              assert.strictEqual(new Set((yield* fired).map(({ plan }) => plan)).size, 12)
              assert.lengthOf(yield* fired, 12)
              for (const { dueAt } of yield* fired) assert.strictEqual(dueAt, "2026-11-16T07:00:00.000Z")
              // Another time, another share.
              const next = yield* timersNow
              assert.notDeepEqual(
                next.map(({ after, plan }) => [plan, after - 3600]),
                first.map(({ after, plan }) => [plan, after]),
              )
            }),
          )
        }),
    )
  })
