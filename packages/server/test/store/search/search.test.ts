/** Search on both databases: the same order and score, statistics that stay true, nothing from another scope. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { SearchIndex } from "../../../src/store/search/SearchIndex.ts"
import { ground, stores } from "../../stores.ts"

const talk = [
  "Caroline: I went to the museum with my sister on Sunday.",
  "Melanie: What did you see there?",
  "Caroline: A painting of a lighthouse, the one we saw in Maine.",
  "Melanie: I bought tickets for the gallery opening next month.",
  "Caroline: Lovely! My children would enjoy that.",
]

const clear = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(["search_index", "search_terms", "search_scopes"], (table) => sql`DELETE FROM ${sql(table)}`),
)
const put = (entry: Parameters<SearchIndex["Service"]["put"]>[0]) =>
  Effect.flatMap(Journal, ({ transact }) => transact(Effect.flatMap(SearchIndex, (index) => index.put(entry))))
const remove = (ref: string, scope?: string) =>
  Effect.flatMap(Journal, ({ transact }) => transact(Effect.flatMap(SearchIndex, (index) => index.remove(ref, scope))))
const find = (scopes: ReadonlyArray<string>, question: string, filters: ReadonlyArray<string> = []) =>
  Effect.map(
    Effect.flatMap(SearchIndex, (index) => index.find(scopes, question, filters)),
    ({ found, ...rest }) => ({ ...rest, found: found.map(({ why, ...one }) => ({ ...one, ...why() })) }),
  )
const refs = (scopes: ReadonlyArray<string>, question: string, filters: ReadonlyArray<string> = []) =>
  Effect.map(find(scopes, question, filters), ({ found }) => found.map(({ ref }) => ref))

/** What the statistics must be: counted again from the rows. */
const recount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ scope: number; labels: string; terms: string; len: number }>`SELECT * FROM search_index`
  const terms = new Map<string, number>()
  const sizes = new Map<number, [number, number]>()
  for (const { labels, len, scope, terms: text } of rows) {
    for (const term of new Set(`${text} ${labels}`.split(" ").filter(Boolean)))
      terms.set(`${scope} ${term}`, (terms.get(`${scope} ${term}`) ?? 0) + 1)
    const [count, sum] = sizes.get(scope) ?? [0, 0]
    sizes.set(scope, [count + 1, sum + len])
  }
  const kept = yield* sql<{ scope: number; term: string; n: number }>`SELECT * FROM search_terms`
  assert.deepStrictEqual(new Map(kept.map(({ n, scope, term }) => [`${scope} ${term}`, n])), terms)
  const scopes = yield* sql<{ id: number; entries: number; len: number }>`SELECT * FROM search_scopes WHERE entries > 0`
  assert.deepStrictEqual(new Map(scopes.map((one) => [one.id, [one.entries, one.len]])), sizes)
})

const results: Record<string, ReadonlyArray<unknown>> = {}

for (const [name, store] of stores)
  layer(SearchIndex.layer.pipe(Layer.provideMerge(ground(store))), { timeout: 30_000 })(`search on ${name}`, (it) => {
    it.effect("any word, other inflections, irregular verbs, a typo, a label, and what the neighbours say", () =>
      Effect.gen(function* () {
        yield* clear
        for (const [at, text] of talk.entries())
          yield* put({ scope: "memory:ann", ref: `r${at}`, series: "talk", label: "", text })
        const best = (question: string) => Effect.map(refs(["memory:ann"], question), ([first]) => first)
        assert.strictEqual(yield* best("Which museum did Caroline go to?"), "r0")
        assert.strictEqual(yield* best("Did Melanie buy tickets?"), "r3")
        assert.strictEqual(yield* best("the gallrey opening"), "r3")
        assert.strictEqual(yield* best("what would her child enjoy"), "r4")
        assert.include((yield* refs(["memory:ann"], "museum")).slice(0, 2), "r1")
        const { fixed, found } = yield* find(["memory:ann"], "gallrey tickets")
        assert.deepStrictEqual(fixed, { gallrei: "galleri" })
        assert.deepStrictEqual([found[0]?.words.toSorted(), found[0]?.ref], [["galleri", "ticket"], "r3"])
        assert.deepStrictEqual(yield* refs(["memory:ann"], "submarine periscope"), [])
        assert.deepStrictEqual(yield* refs(["memory:ann"], "what did they do"), [])
      }),
    )

    it.effect("filters narrow it, scopes do not mix, and a text that changed is found by its new words alone", () =>
      Effect.gen(function* () {
        yield* clear
        yield* put({ scope: "memory:ann", ref: "a", series: null, label: "", text: "red kite", filters: ["kind:note"] })
        yield* put({ scope: "memory:ann", ref: "b", series: null, label: "", text: "red car", filters: ["kind:fact"] })
        yield* put({ scope: "memory:bob", ref: "c", series: null, label: "", text: "red boat" })
        assert.sameMembers([...(yield* refs(["memory:ann"], "red"))], ["a", "b"])
        assert.deepStrictEqual(yield* refs(["memory:ann"], "red", ["kind:fact"]), ["b"])
        assert.sameMembers([...(yield* refs(["memory:ann", "memory:bob"], "red"))], ["a", "b", "c"])
        yield* put({ scope: "memory:ann", ref: "a", series: null, label: "", text: "green kite" })
        assert.deepStrictEqual(yield* refs(["memory:ann"], "red"), ["b"])
        assert.deepStrictEqual(yield* refs(["memory:ann"], "green"), ["a"])
        yield* remove("a")
        assert.deepStrictEqual(yield* refs(["memory:ann"], "green kite"), [])
        yield* recount
      }),
    )

    it.effect("a private text of somebody else changes no score of mine", () =>
      Effect.gen(function* () {
        yield* clear
        for (const [at, text] of talk.entries())
          yield* put({ scope: "memory:ann", ref: `r${at}`, series: "talk", label: "", text })
        const before = yield* find(["memory:ann"], "museum painting tickets")
        for (let at = 0; at < 20; at++)
          yield* put({ scope: "memory:bob", ref: `x${at}`, series: "talk", label: "", text: "museum painting" })
        assert.deepStrictEqual(yield* find(["memory:ann"], "museum painting tickets"), before)
      }),
    )

    it.effect("a long text is found by any passage, and is one result", () =>
      Effect.gen(function* () {
        yield* clear
        const filler = (from: number, count: number) =>
          Array.from({ length: count }, (_, at) => `word${from + at}`).join(" ")
        const text = `${filler(0, 400)} periscope ${filler(400, 400)}`
        yield* put({ scope: "memory:ann", ref: "long", series: null, label: "", text })
        assert.deepStrictEqual(yield* refs(["memory:ann"], "periscope"), ["long"])
        assert.deepStrictEqual(yield* refs(["memory:ann"], "word5 word700"), ["long"])
        yield* put({ scope: "memory:ann", ref: "long", series: null, label: "", text: "short now" })
        yield* recount
      }),
    )

    it.effect(
      "random writes, changes and removals leave the statistics equal to a recount, and both databases agree",
      () =>
        Effect.gen(function* () {
          yield* clear
          const word = fc.constantFrom(
            "red",
            "kite",
            "boat",
            "went",
            "go",
            "garden",
            "gardens",
            "東京",
            "café",
            "x1",
            "the",
          )
          const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(" "))
          const entry = fc.record({
            scope: fc.constantFrom("memory:ann", "memory:bob"),
            ref: fc.integer({ min: 0, max: 15 }).map((n) => `r${n}`),
            series: fc.constantFrom(null, "one", "two"),
            label: fc.oneof(fc.constant(""), word),
            text,
            gone: fc.boolean(),
          })
          const steps = fc.sample(entry, { numRuns: 150, seed: 20261116 })
          const out: Array<unknown> = []
          for (const [at, { gone, ...one }] of steps.entries()) {
            yield* gone && at % 3 === 0 ? remove(one.ref, one.scope) : put(one)
            if (at % 10 === 9) {
              yield* recount
              for (const question of ["red kite", "the gardens of café", "gardn boat 東京", "x1 went"])
                out.push((yield* find(["memory:ann", "memory:bob"], question)).found)
            }
          }
          results[name] = out
          if (results["sqlite"] !== undefined && results["postgres"] !== undefined)
            assert.deepStrictEqual(results["postgres"], results["sqlite"])
        }),
    )
  })

describe("both databases", () => {
  layer(Layer.empty)("agree", (it) => {
    it.effect("to the last bit of the score", () =>
      Effect.sync(() => {
        assert.isAbove(results["sqlite"]?.length ?? 0, 0)
        assert.deepStrictEqual(results["postgres"], results["sqlite"])
      }),
    )
  })
})
