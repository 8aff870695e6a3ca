import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeBatch } from "./Batch.ts"

/** A batch whose write finishes at once, as on a quick disk. */
const noting = Effect.gen(function* () {
  const batches: Array<ReadonlyArray<number>> = []
  const put = yield* makeBatch((items: ReadonlyArray<number>) =>
    Effect.sync(() => {
      batches.push(items)
      return (item: number) => item * 2
    }),
  )
  return { batches, put }
})
const turn = Effect.promise(() => new Promise<void>((go) => void setImmediate(go)))

it.live("whoever is alone is written at once; those who come in one turn of the event loop are written together", () =>
  Effect.gen(function* () {
    const { batches, put } = yield* noting
    for (const one of [1, 2, 3]) {
      yield* turn
      // Waits for nothing: otherwise this would die.
      assert.strictEqual(Effect.runSync(put(one)), one * 2)
    }
    assert.deepStrictEqual(batches.splice(0), [[1], [2], [3]])
    yield* turn
    const many = Array.from({ length: 16 }, (_, at) => at)
    for (let round = 0; round < 3; round++)
      assert.deepStrictEqual(
        yield* Effect.forEach(many, put, { concurrency: "unbounded" }),
        many.map((one) => one * 2),
      )
    // The first of sixteen is written alone: nothing showed that more would come.
    assert.deepStrictEqual(
      batches.map((some) => some.length),
      [1, 15, 16, 16],
    )
  }),
)
