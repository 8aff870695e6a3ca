import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Choosable, chooseModel } from "./Choice.ts"

const model = (name: string, own: string | null = null, ...keywords: ReadonlyArray<string>): Choosable => ({
  name,
  model: own,
  keywords,
})
const models = [
  model("opus", "claude-opus-4-1", "best", "anthropic"),
  model("sonnet", "claude-sonnet-4-5", "fast", "anthropic"),
  model("gpt", "gpt-4o", "openai"),
  model("gpt-mini", "gpt-4o-mini", "openai", "fast"),
]
const chosen = (query: string, from = models) => chooseModel(query, from)?.chosen.name

describe("choosing a model", () => {
  it("S2-54 S2-55 by its name, the provider's name or a keyword; exactly before beginning before part", () => {
    assert.strictEqual(chosen("opus"), "opus")
    assert.strictEqual(chosen("OPUS "), "opus")
    assert.strictEqual(chosen("claude-sonnet"), "sonnet")
    assert.strictEqual(chosen("gpt-4o"), "gpt")
    assert.strictEqual(chosen("gpt-4o-mini"), "gpt-mini")
    assert.strictEqual(chosen("best"), "opus")
    assert.strictEqual(chosen("gpt"), "gpt")
    assert.strictEqual(chosen("mini"), "gpt-mini")
    for (const none of ["llama", "", "  "]) assert.isUndefined(chosen(none))
    // A substring of one name counts less than a prefix of another.
    assert.strictEqual(chosen("max", [model("a-max"), model("max-b")]), "max-b")
  })

  it("S2-55 a tie is broken in one way, whatever order they come in; three others are named at most", () => {
    const same = [
      model("b", null, "x"),
      model("a", null, "x"),
      model("e", null, "x"),
      model("d", null, "x"),
      model("c", null, "x"),
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(same, { minLength: same.length }), (shuffled) => {
        const { alternatives, chosen: first } = chooseModel("x", shuffled)!
        assert.strictEqual(first.name, "a")
        assert.deepStrictEqual(
          alternatives.map(({ name }) => name),
          ["b", "c", "d"],
        )
      }),
    )
    assert.strictEqual(chosen("x", [model("a", null, "x"), model("x")]), "x")
  })
})
