/** Members that come and go. */
import { assert, it } from "@effect/vitest"
import fc from "fast-check"
import { LinkedSet } from "./LinkedSet.ts"

it("whoever has entered and not left is there, whatever the order, and leaving twice is leaving once", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 100 }), (steps) => {
      const crowd = new LinkedSet<number>()
      const there = new Map<number, () => void>()
      for (const who of steps) {
        const leave = there.get(who)
        if (leave === undefined) there.set(who, crowd.enter(who))
        else {
          there.delete(who)
          leave()
          leave()
        }
        assert.strictEqual(crowd.size, there.size)
        assert.sameMembers([...crowd], [...there.keys()])
      }
    }),
  )
})

it("one who leaves while all are looked at takes nobody along", () => {
  const crowd = new LinkedSet<number>()
  const leave = [1, 2, 3].map((who) => crowd.enter(who))
  const seen: Array<number> = []
  for (const who of crowd) {
    seen.push(who)
    leave[who - 1]!()
  }
  assert.deepStrictEqual([seen, crowd.size], [[3, 2, 1], 0])
})
