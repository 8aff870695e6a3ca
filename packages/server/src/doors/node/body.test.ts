import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { bodyFault, deepest, hasNul, maxMembers, maxValues } from "./Body.ts"

/** The real numbers, counted in the value itself. */
const sizeOf = (value: unknown): { readonly values: number; readonly depth: number } => {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 }
  const inner = Object.values(value).map(sizeOf)
  return {
    values: 1 + inner.reduce((sum, one) => sum + one.values, 0),
    depth: 1 + Math.max(0, ...inner.map((one) => one.depth)),
  }
}

const word = fc.oneof(fc.string(), fc.constantFrom('"', "\\", '\\"', "[{,:}]", "\\\\", "\u2028", '{"a":[1,2]}'))
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    word,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
    fc.array(tie("json"), { maxLength: 6 }),
    fc.dictionary(word, tie("json"), { maxKeys: 6 }),
  ),
}))

describe("bodies", () => {
  it("any body within the bounds is let through, whatever its strings look like", () => {
    fc.assert(
      fc.property(json, (value) => {
        // Padded, because short texts are not checked.
        const text = JSON.stringify({ value, pad: "x".repeat(500) }, null, 1)
        assert.isUndefined(bodyFault(text))
        assert.deepEqual(JSON.parse(text) as unknown, JSON.parse(JSON.stringify({ value, pad: "x".repeat(500) })))
      }),
      { numRuns: 500, seed: 1 },
    )
  })

  it("more values than are taken are refused by their number, in every shape, and as many as are taken are not", () => {
    const shapes: ReadonlyArray<(count: number, noise: string) => string> = [
      (count, noise) => `[${Array.from({ length: count }, () => JSON.stringify(noise)).join(",")}]`,
      (count, noise) => `{${Array.from({ length: count }, (_, at) => `${JSON.stringify(noise + at)}:1`).join(",")}}`,
      (count) => `[${Array.from({ length: count / 2 }, () => "[]").join(",")}]`,
      (count) => `{"a":{"b":[${Array.from({ length: count / 2 }, () => '{"c":1}').join(" , ")}]}}`,
    ]
    fc.assert(
      fc.property(word, fc.constantFrom(...shapes), (noise, shape) => {
        assert.match(
          bodyFault(shape(maxValues + 2, noise)) ?? "",
          new RegExp(`more than (${maxValues} values|${maxMembers} members)`),
        )
        const fits = shape(maxValues / 2 - 10, noise)
        assert.isUndefined(bodyFault(fits))
        assert.isAtMost(sizeOf(JSON.parse(fits)).values, maxValues)
      }),
      { numRuns: 40, seed: 2 },
    )
  })

  it("members are counted apart, wherever they stand; a colon in a string is none", () => {
    const rows = (count: number) =>
      `[${Array.from({ length: count }, (_, at) => `{"k${at}" :"a:b:c","l":1}`).join(",")}]`
    assert.match(bodyFault(rows(maxMembers / 2 + 1)) ?? "", new RegExp(`more than ${maxMembers} members`))
    assert.isUndefined(bodyFault(rows(maxMembers / 2)))
  })

  it("what is nested deeper than is taken is refused before it is parsed, closed or not", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("[", '{"a":'), { minLength: deepest + 1, maxLength: 2000 }), (opening) => {
        assert.match(bodyFault(opening.join("")) ?? "", new RegExp(`more than ${deepest} deep`))
        assert.isUndefined(bodyFault(opening.slice(0, deepest - 1).join("") + " ".repeat(500)))
      }),
      { numRuns: 50, seed: 3 },
    )
  })

  it("what it costs to look at a body grows with the body alone", () => {
    // Strings full of backslash runs, as long as possible: each character is still read only once or twice.
    const text = `["${"\\\\".repeat(500_000)}","${'\\"'.repeat(500_000)}"]`
    assert.isUndefined(bodyFault(text))
    assert.isFalse(hasNul(`"${"\\\\".repeat(500_000)}u0000"`))
    assert.isTrue(hasNul(`"${"\\\\".repeat(3)}\\u0000"`))
  })
})
