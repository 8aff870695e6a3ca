import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { tokenEnded } from "../wire/Fault.ts"
import { askUntilAnswered } from "./clientLink.ts"
import type { Asks, EndpointView, Outcome } from "../desk/Desk.ts"
import { outcomeText, stampOf } from "../wire/results.ts"
import { StateSeal } from "./new/sealedState.ts"
import { Sessions } from "./old/sessions.ts"
import type { MCPRequestContext } from "./context.ts"

const stamp = stampOf({ name: "stoa" })
const form = { method: "elicitation/create", params: { message: "Which?", requestedSchema: { type: "object" } } }
const request = { kind: "request" as const, id: 1, method: "tools/call", params: { name: "choose" } }

const contextWith = (told: Array<string>, ended: Effect.Effect<void>): MCPRequestContext => {
  const session = new Sessions().open("ann", "all", "2025-11-25", { elicitation: {} }, 0)
  return {
    front: {
      stamp,
      seal: new StateSeal(Redacted.make("a secret of this test")),
      takeState: () => Effect.succeed(true),
      now: () => 0,
      uptime: () => 0,
      ending: () => false,
    },
    caller: null,
    place: { endpoint: { kind: "all" }, key: "all", open: false },
    view: {} as EndpointView,
    revision: "2025-11-25",
    capabilities: session.capabilities,
    logLevel: undefined,
    session,
    tell: (text) => told.push(text) > 0,
    letGo: () => {},
    ended,
  }
}

const waiting: Outcome = { _tag: "Waiting", call: "c1", on: { kind: "decision", id: "d1" } }
const begin = (told: Array<string>, heard: Array<unknown>, asks: Asks, ended: Effect.Effect<void> = Effect.never) =>
  askUntilAnswered(
    contextWith(told, ended),
    request,
    (link) => {
      heard.push(link.answers)
      return Effect.succeed<Outcome>(link.capabilities["elicitation"] === undefined ? waiting : asks)
    },
    (outcome) => outcomeText(outcome, undefined, "2025-11-25", stamp),
  )

describe("asking an old client", () => {
  it.effect(
    "a form that its client leaves open for ten minutes stays open for people, and the client is told where",
    () =>
      Effect.gen(function* () {
        const [told, heard]: [Array<string>, Array<unknown>] = [[], []]
        const asks: Asks = { _tag: "Asks", requests: { which: form }, until: Effect.never }
        const fiber = yield* Effect.forkChild(begin(told, heard, asks))
        yield* TestClock.adjust("9 minutes")
        assert.lengthOf(told, 1)
        yield* TestClock.adjust("2 minutes")
        const { content } = JSON.parse(yield* Fiber.join(fiber))
        assert.deepStrictEqual(JSON.parse(content[0].text), { state: "waiting", call: "c1", decision: "d1" })
        // No answer was made up for the client, and it need not answer any more.
        assert.deepStrictEqual(heard, [{}, {}])
        assert.include(told[1], "notifications/cancelled")
      }),
  )

  it.effect("what nobody but the client could answer is cancelled then", () =>
    Effect.gen(function* () {
      const [told, heard]: [Array<string>, Array<unknown>] = [[], []]
      const fiber = yield* Effect.forkChild(begin(told, heard, { _tag: "Asks", requests: { which: form } }))
      yield* TestClock.adjust("11 minutes")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(heard, [{}, { which: { action: "cancel" } }])
    }),
  )

  it.effect("G-09 a client whose token ends is refused at once; what it was asked is not given up", () =>
    Effect.gen(function* () {
      const [told, heard]: [Array<string>, Array<unknown>] = [[], []]
      const dropped = Effect.sync(() => void heard.push("dropped"))
      const asks: Asks = { _tag: "Asks", requests: { which: form }, until: Effect.never, dropped }
      const over = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(begin(told, heard, asks, Deferred.await(over)))
      yield* TestClock.adjust("1 minute")
      yield* Deferred.succeed(over, undefined)
      assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), tokenEnded)
      assert.deepStrictEqual(heard, [{}])
    }),
  )
})
