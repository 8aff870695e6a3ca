import { assert, it } from "@effect/vitest"
import { knownCapabilities } from "./oldForms.ts"

it("of what a client declares, only what the house uses is kept", () => {
  const big = "x".repeat(1000)
  const declared = {
    elicitation: { form: { [big]: big }, url: {}, [big]: {} },
    experimental: { [big]: { [big]: big } },
    roots: { listChanged: true, [big]: big },
    sampling: { tools: { [big]: big }, context: {}, [big]: {} },
    [big]: {},
  }
  const known = { elicitation: { form: {}, url: {} }, roots: {}, sampling: { context: {}, tools: {} } }
  assert.deepStrictEqual(knownCapabilities(declared, "2025-11-25"), known)
  assert.deepStrictEqual(knownCapabilities(declared, "2025-06-18"), { elicitation: {}, roots: {}, sampling: {} })
  assert.deepStrictEqual(knownCapabilities(declared, "2025-03-26"), { roots: {}, sampling: {} })
  assert.deepStrictEqual(knownCapabilities({ elicitation: {}, sampling: {} }, "2025-11-25"), {
    elicitation: {},
    sampling: {},
  })
  assert.deepStrictEqual(knownCapabilities({ elicitation: big, roots: true, sampling: null }, "2025-11-25"), {})
})
