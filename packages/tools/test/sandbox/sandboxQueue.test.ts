/** One caller never has the whole sandbox, and those who wait come in turn. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import fc from "fast-check"
import { FairQueue } from "../../src/sandbox/fairQueue.ts"

interface Work {
  readonly by: string
  readonly gate: Deferred.Deferred<void>
  state: "waiting" | "running" | "done"
}

const settle = Effect.gen(function* () {
  for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
})

describe("Turns", () => {
  it("whoever comes and whenever work ends: no caller has every place, none idles, and each gets its turn", () => {
    const steps = fc.array(fc.tuple(fc.constantFrom("m", "m", "m", "v", "w"), fc.boolean()), { maxLength: 60 })
    const walk = (steps: ReadonlyArray<readonly [string, boolean]>, size: number) =>
      Effect.gen(function* () {
        const turns = new FairQueue(size, 32)
        const all: Array<Work> = []
        const count = (of: string | undefined, state: Work["state"]) =>
          all.filter((one) => (of === undefined || one.by === of) && one.state === state).length
        const fibers: Array<Fiber.Fiber<unknown>> = []
        for (const [by, ends] of steps) {
          if (turns.full(by) === undefined) {
            const work: Work = { by, gate: Deferred.makeUnsafe(), state: "waiting" }
            all.push(work)
            const run = Effect.sync(() => void (work.state = "running")).pipe(
              Effect.andThen(Deferred.await(work.gate)),
              Effect.andThen(Effect.sync(() => void (work.state = "done"))),
            )
            fibers.push(yield* Effect.forkChild(turns.within(by, run)))
          } else assert.isAtLeast(count(by, "waiting"), 1)
          if (ends) {
            const first = all.find((one) => one.state === "running")
            if (first !== undefined) yield* Deferred.succeed(first.gate, undefined)
          }
          yield* settle
          for (const who of ["m", "v", "w"]) {
            assert.isAtMost(count(who, "running"), Math.max(1, size - 1))
            assert.isAtMost(count(who, "waiting"), 8)
            // A free place and somebody who may have it are never both there.
            if (count(who, "waiting") > 0 && count(undefined, "running") < size)
              assert.strictEqual(count(who, "running"), Math.max(1, size - 1))
          }
          assert.isAtMost(count(undefined, "running"), size)
        }
        for (const one of all) yield* Deferred.succeed(one.gate, undefined)
        for (const fiber of fibers) yield* Fiber.join(fiber)
        assert.strictEqual(count(undefined, "done"), all.length)
      })
    return fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), (some, size) => Effect.runPromise(walk(some, size))),
      { numRuns: 60, seed: 3 },
    )
  })

  it.effect("who waits and is interrupted gives its place on, whenever that happens", () =>
    Effect.gen(function* () {
      const turns = new FairQueue(1, 8)
      const gate = Deferred.makeUnsafe<void>()
      const first = yield* Effect.forkChild(turns.within("m", Deferred.await(gate)))
      const second = yield* Effect.forkChild(turns.within("m", Effect.void))
      const third = yield* Effect.forkChild(turns.within("v", Effect.succeed("done")))
      yield* settle
      yield* Fiber.interrupt(second)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(third), "done")
      yield* Fiber.join(first)
    }),
  )
})
