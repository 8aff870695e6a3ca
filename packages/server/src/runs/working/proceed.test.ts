/** What a run does next, over random rows. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { CallState } from "@stoa/contract"
import { proceed, type TakenStep } from "./proceed.ts"

const openStates: ReadonlyArray<CallState> = ["received", "waiting", "running"]
const overStates: ReadonlyArray<CallState> = ["done", "failed", "refused", "canceled", "expired"]

const step = (number: number, states: ReadonlyArray<CallState | null>, tag?: string): TakenStep => ({
  number,
  asked: states.map((_, at) => ({ type: "call", id: `c${at}`, tool: "t", input: {} })) as unknown as TakenStep["asked"],
  calls: new Map(
    states.flatMap((state, at) =>
      state === null ? [] : [[at + 1, { id: `${number}.${at}`, state, onKind: null, errorTag: tag }] as const],
    ),
  ),
})

const rows = fc
  .array(fc.array(fc.constantFrom(...openStates, ...overStates, null), { maxLength: 4 }), { maxLength: 6 })
  .map((all) => all.map((states, at) => step(at + 1, states)))

describe("proceed", () => {
  it("S1-102 never thinks while a call of the last step is unmade or open, and always says the same", () => {
    fc.assert(
      fc.property(rows, (steps) => {
        const next = proceed(steps)
        assert.deepStrictEqual(proceed(steps), next)
        const last = steps.at(-1)
        if (last === undefined) return assert.deepStrictEqual(next, { do: "think", step: 1 })
        const states = last.asked.map((_, at) => last.calls.get(at + 1)?.state)
        if (states.includes(undefined)) {
          assert.strictEqual(next.do, "make")
          // A call is not made twice.
          if (next.do === "make") assert.isTrue(next.places.every((place) => !last.calls.has(place)))
        } else if (states.some((state) => openStates.includes(state!))) assert.strictEqual(next.do, "park")
        else if (states.length === 0) assert.strictEqual(next.do, "end")
        else assert.include(["think", "end"], next.do)
        if (next.do === "think") assert.strictEqual(next.step, last.number + 1)
      }),
      { numRuns: 2000 },
    )
  })

  it("comes to an end whatever its calls come to, once its model asks for nothing or only for what is not there", () => {
    const acts = fc.array(fc.constantFrom<CallState | null>(...overStates, ...openStates, null), { maxLength: 3 })
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 8 }), fc.boolean(), (script, invalid) => {
        const steps: Array<TakenStep> = []
        for (let act = 0; act < 200; act++) {
          const next = proceed(steps)
          if (next.do === "end") return
          const last = steps.length - 1
          if (next.do === "think") {
            const asked = script[steps.length] ?? (invalid ? (["refused"] as const) : [])
            steps.push(step(next.step, asked, invalid ? "ToolNotFoundError" : undefined))
            continue
          }
          // Missing calls are made, and open ones settle: by an answer, or by their time limit.
          const settled = steps[last]!.asked.map((_, at) => {
            const { state } = steps[last]!.calls.get(at + 1) ?? { state: "done" as const }
            return openStates.includes(state) ? ("expired" as const) : state
          })
          steps[last] = step(steps[last]!.number, settled, invalid ? "ToolNotFoundError" : undefined)
        }
        assert.fail("it went on for ever")
      }),
      { numRuns: 1000 },
    )
  })
})
