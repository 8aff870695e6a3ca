import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { maxKept, refusedInput } from "./refusedInput.ts"

describe("refused input", () => {
  it("of whatever was sent a small one is kept whole, and of a large one its size, its digest and its beginning", () => {
    const value = fc.dictionary(
      fc.string(),
      fc.oneof(
        fc.jsonValue(),
        fc
          .tuple(fc.string({ unit: "binary", minLength: 1 }), fc.integer({ min: 1, max: 3000 }))
          .map(([text, times]) => text.repeat(times)),
      ),
    )
    let large = 0
    fc.assert(
      fc.property(value, (input) => {
        const text = JSON.stringify(input)
        const kept = refusedInput(input)
        // A cut text is escaped again, so it can grow, but only to a few times the cap.
        assert.isAtMost(kept.length, 6 * maxKept + 200)
        if (text.length <= maxKept) return assert.strictEqual(kept, text)
        large++
        const { cut } = JSON.parse(kept) as { cut: { bytes: number; sha256: string; start: string } }
        assert.strictEqual(cut.bytes, Buffer.byteLength(text))
        assert.strictEqual(cut.sha256, createHash("sha256").update(text).digest("hex"))
        assert.isTrue(cut.start.isWellFormed())
        return assert.isTrue(text.startsWith(cut.start.slice(0, -1)))
      }),
      { seed: 4, numRuns: 300 },
    )
    assert.isAbove(large, 10)
    let deep: Record<string, unknown> = {}
    for (let level = 0; level < 100_000; level++) deep = { deep }
    assert.strictEqual(refusedInput(deep), "{}")
  })
})
