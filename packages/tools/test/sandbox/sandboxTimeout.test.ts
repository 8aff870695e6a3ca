/** The limits every handler runs under, moved by the test clock. */
import { assert, describe, it } from "@effect/vitest"
import { ToolExecutionError } from "@stoa/contract"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { runInTime, timeoutFault } from "../../src/sandbox/Timeout.ts"
import { CurrentToolsConfig, defaultToolsConfig } from "../../src/ToolsConfig.ts"

const tool = (timeoutMs: number) => ({ name: "slow-tool", timeoutMs })

describe("runInTime", () => {
  it.effect("S4-56 a sleeping handler fails at its limit under its own name and does nothing later", () =>
    Effect.gen(function* () {
      let later = false
      const sleeper = Effect.sleep(5000).pipe(Effect.andThen(Effect.sync(() => (later = true))))
      const call = yield* Effect.forkChild(Effect.flip(runInTime(tool(1000), () => sleeper)))
      yield* TestClock.adjust(999)
      assert.isUndefined(call.pollUnsafe())
      yield* TestClock.adjust(1)
      const error = yield* Fiber.join(call)
      assert.strictEqual(error._tag, "ToolTimeoutError")
      assert.strictEqual(error.toolName, "slow-tool")
      assert.strictEqual(error._tag === "ToolTimeoutError" && error.timeoutMs, 1000)
      yield* TestClock.adjust(10_000)
      assert.isFalse(later)
    }),
  )

  it.effect("S4-56 interrupting the call interrupts the handler", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const handler = Effect.never.pipe(Effect.onInterrupt(() => Deferred.succeed(ended, undefined)))
      const call = yield* Effect.forkChild(
        runInTime(tool(1000), () => handler),
        { startImmediately: true },
      )
      yield* Fiber.interrupt(call)
      yield* Deferred.await(ended)
    }),
  )

  it.effect("S4-57 whatever a handler throws is a crash that names the tool", () =>
    Effect.gen(function* () {
      const crashes: ReadonlyArray<() => Effect.Effect<unknown>> = [
        () => {
          throw new Error("boom")
        },
        () => Effect.die(new Error("boom")),
        () => Effect.sync(() => JSON.parse("boom") as unknown),
        () => Effect.die("boom"),
        () => Effect.promise(() => Promise.reject(new Error("boom"))),
      ]
      for (const crash of crashes) {
        const error = yield* Effect.flip(runInTime(tool(1000), crash))
        assert.strictEqual(error._tag, "ToolExecutionError")
        assert.strictEqual(error.toolName, "slow-tool")
        assert.match(error.message, /^Tool "slow-tool" crashed: .*boom/)
      }
      const self = yield* Effect.flip(runInTime(tool(1000), () => Effect.interrupt))
      assert.include(self.message, "crashed: it interrupted itself")
    }),
  )

  it.effect("a handler's own failure stays what it is", () =>
    Effect.gen(function* () {
      const own = new ToolExecutionError({ message: "no such row", toolName: "slow-tool" })
      assert.strictEqual(yield* Effect.flip(runInTime(tool(1000), () => Effect.fail(own))), own)
      assert.strictEqual(yield* runInTime(tool(1000), () => Effect.succeed(5)), 5)
    }),
  )

  it.effect("S4-59 X-49 a limit of 600000 is clamped to the most, 300000", () =>
    Effect.gen(function* () {
      const call = yield* Effect.forkChild(Effect.flip(runInTime(tool(600_000), () => Effect.never)))
      yield* TestClock.adjust(300_000)
      const error = yield* Fiber.join(call)
      assert.strictEqual(error._tag === "ToolTimeoutError" && error.timeoutMs, 300_000)
    }),
  )

  it.effect("S4-60 with the sandbox off, timeouts and crashes are still caught", () =>
    Effect.gen(function* () {
      const call = yield* Effect.forkChild(Effect.flip(runInTime(tool(50), () => Effect.never)))
      yield* TestClock.adjust(50)
      assert.strictEqual((yield* Fiber.join(call))._tag, "ToolTimeoutError")
      assert.include((yield* Effect.flip(runInTime(tool(50), () => Effect.die("boom")))).message, "crashed: boom")
    }).pipe(
      Effect.provideService(CurrentToolsConfig, {
        ...defaultToolsConfig,
        execution: { ...defaultToolsConfig.execution, sandboxEnabled: false },
      }),
    ),
  )

  it.effect("S4-56 a handler that will not be interrupted does not hold the call", () =>
    Effect.gen(function* () {
      const stubborn = Effect.uninterruptible(Effect.sleep(60_000))
      const call = yield* Effect.forkChild(Effect.flip(runInTime(tool(50), () => stubborn)))
      yield* TestClock.adjust(50)
      assert.strictEqual((yield* Fiber.join(call))._tag, "ToolTimeoutError")
    }),
  )

  it("S4-59 a timeout that is no positive number is refused with the tool's name", () => {
    for (const bad of [0, -0, -1, Number.NaN, Infinity, -Infinity])
      assert.include(timeoutFault(tool(bad)) ?? "", `"slow-tool"`)
    fc.assert(fc.property(fc.integer({ min: 1 }), (ms) => timeoutFault(tool(ms)) === undefined))
    fc.assert(fc.property(fc.double({ max: 0 }), (ms) => timeoutFault(tool(ms)) !== undefined))
  })
})
