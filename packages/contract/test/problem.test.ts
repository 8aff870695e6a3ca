/** However much is wrong with a body, what is said of it is bounded. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { BadInput, bodyOf, issuesOf, NewPrincipal } from "../src/index.ts"

const Deep = Schema.Struct({
  name: Schema.String,
  members: Schema.Array(Schema.Union([Schema.Int, Schema.Struct({ a: Schema.String, b: Schema.Boolean })])),
  more: Schema.optionalKey(Schema.Record(Schema.String, Schema.Finite)),
})
const read = Schema.decodeUnknownResult(Deep, { errors: "all", onExcessProperty: "error" })

describe("issues", () => {
  it("the first fifty of any number are told, in bounded words, and that there are more", () => {
    const wrong = fc.record({
      name: fc.constantFrom(1, "x"),
      members: fc.array(fc.constantFrom("x", { a: 1 }, { a: "x", b: true, c: 1 }, 1), {
        minLength: 20,
        maxLength: 400,
        size: "max",
      }),
      more: fc.dictionary(fc.string({ maxLength: 3000 }), fc.constantFrom("x", 1), { maxKeys: 200 }),
      ["k".repeat(5000)]: fc.constant(1),
    })
    let many = 0
    fc.assert(
      fc.property(wrong, (body) => {
        const found = read(body)
        assert.isTrue(Result.isFailure(found))
        if (!Result.isFailure(found)) return
        const issues = issuesOf(found.failure)
        assert.isAtMost(issues.length, 51)
        if (issues.length === 51) {
          many++
          assert.match(issues.at(-1)!.message, /and more; these are the first 50/)
        }
        for (const { message, path } of issues) assert.isAtMost(message.length + path.length, 1002)
        const told = JSON.stringify(new BadInput({ issues: [...issues, ...issues, ...issues] }).message)
        assert.isAtMost(told.length, 120_000)
      }),
      { numRuns: 100, seed: 5 },
    )
    assert.isAbove(many, 20)
  })

  it("a few are told as they are, each by its path", () => {
    const found = read({ name: 1, members: [1, "x"], misspelt: 1 })
    assert.isTrue(Result.isFailure(found))
    if (Result.isFailure(found))
      assert.deepStrictEqual([...new Set(issuesOf(found.failure).map(({ path }) => path))].toSorted(), [
        "members.1",
        "misspelt",
        "name",
      ])
  })

  it("what is missing, and a body that is no object, are told in words", () => {
    const messages = (schema: Schema.Codec<unknown>, body: unknown) => {
      const found = Schema.decodeUnknownResult(schema, { errors: "all" })(body)
      return Result.isFailure(found) ? issuesOf(found.failure).map(({ message }) => message) : []
    }
    assert.deepStrictEqual(messages(Deep as never, {}), ["is missing", "is missing"])
    assert.deepStrictEqual(messages(Deep as never, "x"), ["must be an object"])
    assert.deepStrictEqual(messages(NewPrincipal as never, []), ["must be an object"])
  })

  it("a field that is none is told with those there are", () => {
    const found = read({ misspelt: 1 })
    assert.isTrue(Result.isFailure(found))
    if (Result.isFailure(found))
      assert.match(
        issuesOf(found.failure).find(({ path }) => path === "misspelt")!.message,
        /^is not a field here; the fields are .*members/,
      )
  })
})

it("a title is its tag in words", () => {
  const titles = ["MCPConnectionError", "BadInput", "Missing"].map((tag) => bodyOf(tag, 400, "").title)
  assert.deepStrictEqual(titles, ["MCP connection error", "Bad input", "Missing"])
})
