/** Search, for any records, budgets and questions: both databases agree to the last bit, and statistics equal a recount. */
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { SearchIndex } from "../../../src/store/search/SearchIndex.ts"
import { isBefore, placeAmong } from "../../../src/store/search/index/seriesOrder.ts"
import { ground, stores } from "../../stores.ts"

/** Words that fold, stem and meet in many ways, and any Unicode besides. */
const word = fc.oneof(
  fc.constantFrom(
    "red",
    "kites",
    "went",
    "go",
    "gardens",
    "gardn",
    "東京都",
    "café",
    "cafe\u0301",
    "x1",
    "the",
    "Ann's",
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
)
const sentence = fc.array(word, { minLength: 1, maxLength: 10 }).map((words) => words.join(" "))
const step = fc.record({
  scope: fc.constantFrom("memory:ann", "memory:bob"),
  ref: fc.integer({ min: 0, max: 25 }).map((n) => `r${n}`),
  series: fc.constantFrom(null, "one", "two"),
  order: fc.integer({ min: 0, max: 30 }).map((n) => String(n).padStart(3, "0")),
  label: fc.oneof(fc.constant(""), word),
  text: sentence,
  gone: fc.boolean(),
})
const asking = fc.record({ question: sentence, budget: fc.constantFrom(1, 2, 3, 5, 8, 1000) })

const steps = fc.sample(step, { numRuns: 200, seed: 1357 })
const asked = fc.sample(asking, { numRuns: 400, seed: 2468 })
const results: Record<string, ReadonlyArray<unknown>> = {}

const inTransaction = <A, R>(body: Effect.Effect<A, never, R>) =>
  Effect.flatMap(Journal, ({ transact }) => transact(body))

/** The statistics counted again from the rows, and no place given twice. */
const recount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ scope: number; labels: string; terms: string; len: number }>`SELECT * FROM search_index`
  const terms = new Map<string, number>()
  for (const { labels, scope, terms: text } of rows)
    for (const term of new Set(`${text} ${labels}`.split(" ").filter(Boolean)))
      terms.set(`${scope} ${term}`, (terms.get(`${scope} ${term}`) ?? 0) + 1)
  const kept = yield* sql<{ scope: number; term: string; n: number }>`SELECT * FROM search_terms`
  assert.deepStrictEqual(new Map(kept.map(({ n, scope, term }) => [`${scope} ${term}`, n])), terms)
})

for (const [name, store] of stores)
  layer(SearchIndex.layer.pipe(Layer.provideMerge(ground(store))), { timeout: 120_000 })(`agree on ${name}`, (it) => {
    it.effect("random writes in any script, any budget, any question", () =>
      Effect.gen(function* () {
        const index = yield* SearchIndex
        const out: Array<unknown> = []
        for (const [at, { gone, ...entry }] of steps.entries()) {
          yield* inTransaction(gone && at % 3 === 0 ? index.remove(entry.ref, entry.scope) : index.put(entry))
          for (const { budget, question } of asked.slice(at * 2, at * 2 + 2)) {
            const { fixed, found } = yield* index.find(["memory:ann", "memory:bob"], question, [], { budget })
            out.push([question, budget, fixed, found.map(({ why, ...one }) => ({ ...one, ...why() }))])
          }
        }
        yield* recount
        results[name] = out
        if (results["sqlite"] !== undefined && results["postgres"] !== undefined)
          assert.deepStrictEqual(results["postgres"], results["sqlite"])
      }),
    )

    it.effect("a record without a series is scored by its own words alone, whatever stands around it", () =>
      Effect.gen(function* () {
        const index = yield* SearchIndex
        const put = (ref: string, series: string | null, text: string) =>
          inTransaction(index.put({ scope: `alone:${series}`, ref, series, label: "", text }, true))
        const scoreIn = (series: string | null) =>
          Effect.map(index.find([`alone:${series}`], "periscope"), ({ found }) =>
            found.map(({ ref, score, why }) => ({ ref, score, ...why() })),
          )
        for (const series of [null, "talk"]) {
          yield* put(`1${series}`, series, "periscope up")
          yield* put(`2${series}`, series, "nothing here")
        }
        const [alone, together] = [yield* scoreIn(null), yield* scoreIn("talk")]
        assert.deepStrictEqual(
          alone.map(({ near, words }) => [words, near]),
          [[["periscop"], []]],
        )
        assert.deepStrictEqual(
          together.map(({ near, words }) => [words, near]),
          [
            [["periscop"], []],
            [[], ["periscop"]],
          ],
        )
        // idf * tf * 1.9 / (tf + 0.9 * (0.85 + 0.15 * len / avg)), with 1 of 2 rows and both of average length.
        assert.closeTo(alone[0]!.score, (Math.log(1 + 1.5 / 1.5) * 1.9) / 1.9, 1e-12)
      }),
    )

    it.effect("rows that come out of order stand in the order of their numbers", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const index = yield* SearchIndex
        const came = ["003", "001", "002", "005", "004", "006", "010", "007", "009", "008", "zebra", "apple"]
        for (const order of came)
          yield* inTransaction(
            index.put({ scope: "order:x", ref: order, series: "s", order, label: "", text: order }, true),
          )
        const rows = yield* sql<{ ref: string; place: number }>`SELECT i.ref, i.place FROM search_index i
          JOIN search_scopes s ON s.id = i.scope WHERE s.name = 'order:x' ORDER BY i.place`
        const numbered = Array.from({ length: 10 }, (_, n) => String(n + 1).padStart(3, "0"))
        assert.deepStrictEqual(
          rows.map(({ ref }) => ref),
          [...numbered, "zebra", "apple"],
        )
        assert.deepStrictEqual(
          rows.slice(1).map(({ place }, at) => place - rows[at]!.place),
          rows.slice(1).map(() => 1),
        )
      }),
    )
  })

describe("places", () => {
  plain("numbers order, words do not", () => {
    assert.isTrue(isBefore("2", "10"))
    assert.isTrue(isBefore("turn-09", "turn-10"))
    assert.isFalse(isBefore("apple", "zebra"))
    assert.isFalse(isBefore("turn-1", "step-2"))
    assert.isFalse(isBefore("012", "12"))
    assert.isFalse(isBefore(null, "1"))
  })
  plain("before all others it goes to the beginning; far from the end it goes there", () => {
    const last = [9, 8, 7].map((place) => ({ place, tail: String(place) }))
    assert.deepStrictEqual(placeAmong(last, { place: 5, tail: "5" }, "4"), { place: 4, push: false })
    assert.deepStrictEqual(placeAmong(last, { place: 5, tail: "5" }, "6"), { place: 10, push: false })
    assert.deepStrictEqual(placeAmong([], undefined, "6"), { place: 0, push: false })
  })
})
