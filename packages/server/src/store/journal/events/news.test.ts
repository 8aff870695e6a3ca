/** The newest events in memory: exactly what a query would find, or nothing. */
import { assert, it } from "@effect/vitest"
import fc from "fast-check"
import { Tail } from "./commitNews.ts"

const rowsAt = (first: number, count: number) => {
  const cursors = Array.from({ length: count }, (_, at) => ({ cursor: first + at }))
  return [cursors.map(({ cursor }) => `e${cursor}`), cursors] as const
}

it("what follows is kept; what comes out of order is left to the table", () => {
  const tail = new Tail<string>()
  assert.isUndefined(tail.end)
  assert.isUndefined(tail.after(0))
  assert.isTrue(tail.add(...rowsAt(5, 2)))
  assert.isUndefined(tail.after(3))
  assert.deepStrictEqual(
    tail.after(4)!.map((one) => one.row),
    ["e5", "e6"],
  )
  assert.deepStrictEqual(tail.after(6), [])
  // 7 is not known yet: a reader that continues from 6 must not get 8 alone.
  assert.isFalse(tail.add(...rowsAt(8, 1)))
  assert.strictEqual(tail.end, 6)
  tail.clear()
  assert.isUndefined(tail.end)
  assert.isFalse(tail.add(...rowsAt(7, 1)))
  assert.isUndefined(tail.end)
  assert.isTrue(tail.add(...rowsAt(9, 1)))
  assert.strictEqual(tail.end, 9)
  assert.isUndefined(tail.after(7))
  assert.deepStrictEqual(
    tail.after(8)!.map((one) => one.cursor),
    [9],
  )
})

it("what the table has after the end is filled in once, over the gaps of what was rolled back", () => {
  const tail = new Tail<{ readonly cursor: number }>()
  tail.begin(4)
  assert.deepStrictEqual(tail.after(4), [])
  assert.isUndefined(tail.after(3))
  const rows = [5, 7, 8].map((cursor) => ({ cursor }))
  assert.isTrue(tail.add([{ cursor: 5 }], [{ cursor: 5 }]))
  // Read before the 5 was announced.
  assert.deepStrictEqual(
    tail.fill(rows).map(({ cursor }) => cursor),
    [7, 8],
  )
  assert.strictEqual(tail.end, 8)
  assert.deepStrictEqual(
    tail.after(5)!.map(({ cursor }) => cursor),
    [7, 8],
  )
  assert.deepStrictEqual(
    tail.after(6)!.map(({ cursor }) => cursor),
    [7, 8],
  )
  assert.deepStrictEqual(tail.fill(rows), [])
  // Announced late: it is already there.
  assert.isFalse(tail.add([{ cursor: 7 }], [{ cursor: 7 }]))
  assert.lengthOf(tail.after(4)!, 3)
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
