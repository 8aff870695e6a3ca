import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Pacing } from "./Pacing.ts"

describe("pacing", () => {
  it.live("the work of one comes one after the other, that of another between, and nothing is held at the end", () =>
    Effect.gen(function* () {
      const pacing = new Pacing({ least: 1000, longest: 100 })
      const done: Array<string> = []
      let at = 0
      let most = 0
      const page = (who: string) =>
        pacing.run(
          who,
          Effect.gen(function* () {
            if (who === "mallory") most = Math.max(most, ++at)
            yield* Effect.yieldNow
            if (who === "mallory") at--
            done.push(who)
          }),
        )
      const many = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 40 }), () => page("mallory"), { concurrency: "unbounded" }),
      )
      yield* Effect.yieldNow
      yield* page("victoria")
      assert.isAtMost(done.indexOf("victoria"), 3)
      yield* Fiber.join(many)
      assert.strictEqual(most, 1)
      assert.strictEqual(pacing.principals, 0)
    }),
  )

  it.live("who is interrupted while it waits for its turn gives it on", () =>
    Effect.gen(function* () {
      const pacing = new Pacing({ least: 1000, longest: 100 })
      const first = yield* Effect.forkChild(pacing.run("m", Effect.sleep("20 millis")))
      const second = yield* Effect.forkChild(pacing.run("m", Effect.void))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(second)
      yield* Fiber.join(first)
      yield* pacing.run("m", Effect.void)
      assert.strictEqual(pacing.principals, 0)
    }),
  )

  it.live("what took long is answered at once; what was asked for meanwhile waits three times as long", () =>
    Effect.gen(function* () {
      const pacing = new Pacing({ least: 5, longest: 1000 })
      const ends: Array<number> = []
      const end = Effect.sync(() => ends.push(performance.now()))
      const first = yield* Effect.forkChild(pacing.run("m", Effect.andThen(Effect.sleep("30 millis"), end)))
      yield* Effect.yieldNow
      const second = yield* Effect.forkChild(pacing.run("m", end))
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.isAtLeast(ends[1]! - ends[0]!, 85)
    }),
  )
})
