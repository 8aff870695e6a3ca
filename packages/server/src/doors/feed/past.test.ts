import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Past } from "./past.ts"

describe("the past", () => {
  it.live("pages of one come one after the other, those of another between them, and nothing is held at the end", () =>
    Effect.gen(function* () {
      const past = new Past()
      const done: Array<string> = []
      let at = 0
      let most = 0
      const page = (who: string) =>
        past.page(
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
      assert.strictEqual(past.readers, 0)
    }),
  )

  it.live("who is interrupted while it waits for its turn gives it on", () =>
    Effect.gen(function* () {
      const past = new Past()
      const first = yield* Effect.forkChild(past.page("m", Effect.sleep("20 millis")))
      const second = yield* Effect.forkChild(past.page("m", Effect.void))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(second)
      yield* Fiber.join(first)
      yield* past.page("m", Effect.void)
      assert.strictEqual(past.readers, 0)
    }),
  )
})
