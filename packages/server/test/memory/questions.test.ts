/** How well questions are answered, by the labelled set of our own, asked over HTTP and through `recall`, on both databases. */
import { assert, layer } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { Effect } from "effect"
import { questions, recallBySort, records } from "../../src/memory/testing/labelledQuestions.ts"
import { ask, Guest, house } from "../house.ts"

/** Recall@10 may not fall below these. */
const floors: Readonly<Record<string, number>> = {
  "exact words": 1,
  "other inflection": 1,
  "irregular verb": 1,
  "one typo": 0.9,
  "answer in the neighbour": 0.9,
  "several records": 0.9,
  question: 0.9,
  "several words": 1,
}

const lists: Record<string, ReadonlyArray<readonly [string, ReadonlyArray<string>]>> = {}

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`questions on ${store}`, (it) => {
    it.effect(
      "S0-44 G-36 each sort of question finds what answers it among the first ten, with no model",
      () =>
        Effect.gen(function* () {
          const { admin, url } = yield* Guest
          assert.strictEqual(questions.length, 80)
          assert.isAtLeast(records.length, 115)
          yield* ask(() => admin.principals.add({ kind: "agent", name: "reader" }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: "reader" }))
          const client = connect({ url, token })
          yield* Effect.forEach(records, (record) => ask(() => client.memory.put({ kind: "turn", ...record })), {
            discard: true,
          })
          const found = new Map<string, ReadonlyArray<string>>()
          for (const { question } of questions) {
            const { items } = yield* ask(() => client.memory.list({ q: question, limit: 10 }))
            found.set(
              question,
              items.map(({ key }) => key),
            )
          }
          const recall = recallBySort(found)
          for (const [sort, floor] of Object.entries(floors))
            assert.isAtLeast(recall.get(sort) ?? 0, floor, `${sort}: ${JSON.stringify([...recall])}`)
          const { question } = questions[0]!
          const call = yield* ask(() => client.tools.call("recall", { input: { query: question } }))
          const { items } = (call as unknown as { output: { items: ReadonlyArray<{ key: string }> } }).output
          assert.deepStrictEqual(
            items.map(({ key }) => key),
            found.get(question),
          )
          lists[store] = [...found]
          if (lists["sqlite"] !== undefined && lists["postgres"] !== undefined)
            assert.deepStrictEqual(lists["postgres"], lists["sqlite"])
        }),
      120_000,
    )
  })
