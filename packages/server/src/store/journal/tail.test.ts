/** The newest events in memory: what is there is exactly what a query would find, or it is not there. */
import { assert, it } from "@effect/vitest"
import fc from "fast-check"
import { Tail } from "./tail.ts"

const rowsAt = (first: number, count: number) => {
  const cursors = Array.from({ length: count }, (_, at) => ({ cursor: first + at }))
  return [cursors.map(({ cursor }) => `e${cursor}`), cursors] as const
}

it("what follows is kept; what comes out of order is left to the table", () => {
  const tail = new Tail<string>()
  assert.isUndefined(tail.end)
  assert.isUndefined(tail.after(0))
  tail.add(...rowsAt(5, 2))
  assert.isUndefined(tail.after(3))
  assert.deepStrictEqual(
    tail.after(4)!.map((one) => one.row),
    ["e5", "e6"],
  )
  assert.deepStrictEqual(tail.after(6), [])
  // 7 has not been told yet: whoever reads on from 6 must not be given 8 alone.
  tail.add(...rowsAt(8, 1))
  assert.isUndefined(tail.end)
  tail.add(...rowsAt(7, 1))
  assert.isUndefined(tail.end)
  tail.add(...rowsAt(9, 1))
  assert.strictEqual(tail.end, 9)
  assert.isUndefined(tail.after(7))
  assert.deepStrictEqual(
    tail.after(8)!.map((one) => one.cursor),
    [9],
  )
})

it("whatever the order in which commits are told, nothing is skipped", () => {
  const transactions = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 30 }).chain((sizes) =>
    fc.tuple(
      fc.constant(sizes),
      fc.shuffledSubarray(
        sizes.map((_, at) => at),
        { minLength: sizes.length },
      ),
    ),
  )
  fc.assert(
    fc.property(transactions, fc.integer({ min: 0, max: 120 }), ([sizes, order], from) => {
      const starts = sizes.map((_, at) => 1 + sizes.slice(0, at).reduce((sum, size) => sum + size, 0))
      const tail = new Tail<string>()
      for (const at of order) {
        tail.add(...rowsAt(starts[at]!, sizes[at]!))
        const found = tail.after(from)
        if (found === undefined) continue
        assert.deepStrictEqual(
          found.map((one) => one.cursor),
          found.map((_, place) => from + 1 + place),
        )
        if (found.length > 0) assert.strictEqual(found.at(-1)!.cursor, tail.end)
      }
    }),
  )
})

it("only the newest are kept", () => {
  const tail = new Tail<string>()
  for (let at = 0; at < 100; at++) tail.add(...rowsAt(1 + at * 1000, 1000))
  assert.strictEqual(tail.end, 100_000)
  assert.isUndefined(tail.after(0))
  assert.lengthOf(tail.after(99_990)!, 10)
})
