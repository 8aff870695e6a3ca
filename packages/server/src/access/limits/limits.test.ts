import { assert, describe, it } from "@effect/vitest"
import { Limit } from "@stoa/contract"
import fc from "fast-check"
import { fill, defaultLimits } from "./Limits.ts"

describe("limits", () => {
  it("G-10 in any window no more is let through than the limit, and never less than the limit in a fresh one", () => {
    const limits = fc.record({ count: fc.integer({ min: 1, max: 20 }), seconds: fc.integer({ min: 1, max: 5 }) })
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.integer({ min: 0, max: 800 }), { maxLength: 200 }),
        ({ count, seconds }, gaps) => {
          const limit = new Limit({ principal: "*", resource: "*", count, seconds })
          const passed: Array<number> = []
          let emptyAt = 0
          let now = 1_000_000
          for (const gap of gaps) {
            now += gap
            const taken = fill(emptyAt, limit, now)
            emptyAt = taken.emptyAt
            if (taken.wait === 0) passed.push(now)
            // Waiting as long as it says is enough.
            else assert.strictEqual(fill(emptyAt, limit, now + taken.wait).wait, 0)
          }
          // A bucket that drains evenly passes at most twice the count in a window: a full bucket, and what drains
          // meanwhile.
          for (const at of passed)
            assert.isAtMost(passed.filter((one) => one >= at && one < at + seconds * 1000).length, 2 * count)
        },
      ),
    )
    const limit = new Limit({ principal: "*", resource: "*", count: 5, seconds: 60 })
    let emptyAt = 0
    const waits = Array.from({ length: 7 }, () => {
      const taken = fill(emptyAt, limit, 0)
      emptyAt = taken.emptyAt
      return taken.wait
    })
    assert.deepStrictEqual(waits, [0, 0, 0, 0, 0, 12_000, 12_000])
  })

  it("G-10 nothing is unlimited by default: requests, their bytes, tool calls and posts each have a rule for everybody", () => {
    for (const resource of ["http", "kilobytes", "tools/*", "spaces/*", "calls/refused"])
      assert.isDefined(defaultLimits.find((limit) => limit.principal === "*" && limit.resource === resource))
  })

  it("no default names a tool: what a tool counts as is a trait of its own", () => {
    for (const { resource } of defaultLimits) assert.notMatch(resource, /^tools\/[^*]/)
  })
})
