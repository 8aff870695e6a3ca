/** What is found to fit here and now fits by the compiler, too. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { compileSchema } from "../../src/schema/compile.ts"
import { plainlyFits } from "../../src/schema/plain.ts"

const names = fc.constantFrom("a", "b", "c", "d")
const words = fc.constantFrom("", "x", "xy", "é😀", "😀😀😀", "\ud800", "long enough")
const numbers = fc.constantFrom(-1, -0, 0, 0.5, 1, 2, 3, 1e300)
const primitive = fc.oneof(words, numbers, fc.boolean(), fc.constant(null))

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    primitive,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4 }),
  ),
}))

const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array")
const small = fc.integer({ min: 0, max: 3 })
const maybe = <A>(of: fc.Arbitrary<A>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: of })

const { schema } = fc.letrec<{ schema: unknown; branch: unknown }>((tie) => ({
  branch: fc.oneof({ weight: 1, arbitrary: fc.boolean() }, { weight: 5, arbitrary: tie("schema") }),
  schema: fc
    .record({
      type: maybe(fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))),
      description: maybe(fc.constant("words")),
      enum: maybe(fc.uniqueArray(primitive, { minLength: 1, maxLength: 4 })),
      const: maybe(primitive),
      minLength: maybe(small),
      maxLength: maybe(small),
      minimum: maybe(numbers),
      maximum: maybe(numbers),
      exclusiveMinimum: maybe(numbers),
      exclusiveMaximum: maybe(numbers),
      minItems: maybe(small),
      maxItems: maybe(small),
      minProperties: maybe(small),
      maxProperties: maybe(small),
      required: maybe(fc.uniqueArray(names, { maxLength: 2 })),
      properties: maybe(fc.dictionary(names, tie("branch"), { maxKeys: 3 })),
      additionalProperties: maybe(tie("branch")),
      items: maybe(tie("branch")),
      anyOf: maybe(fc.array(tie("branch"), { minLength: 1, maxLength: 2 })),
    })
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, given]) => given !== undefined))),
}))

describe("plainlyFits", () => {
  it("says of a plain schema what the compiler says", () => {
    let fitted = 0
    fc.assert(
      fc.property(
        schema as fc.Arbitrary<Record<string, unknown>>,
        fc.array(value, { maxLength: 8 }),
        (made, values) => {
          const { check } = compileSchema(made)
          for (const one of values) {
            const fits = plainlyFits(made, one)
            if (fits) fitted++
            assert.strictEqual(fits, check(one) === undefined, JSON.stringify([made, one]))
          }
        },
      ),
      { numRuns: 300 },
    )
    assert.isAbove(fitted, 100)
  })

  it("takes the arguments of an ordinary tool", () => {
    const made = {
      type: "object",
      title: "Arguments",
      properties: {
        word: { type: "string", minLength: 1 },
        many: { type: "array", items: { type: "integer" } },
        maybe: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      },
      required: ["word"],
      additionalProperties: false,
    }
    assert.isTrue(plainlyFits(made, { word: "x", many: [1, 2], maybe: null }))
    for (const wrong of [{}, { word: "" }, { word: 1 }, { word: "x", many: [1.5] }, { word: "x", more: 1 }, [], null])
      assert.isFalse(plainlyFits(made, wrong), JSON.stringify(wrong))
  })

  it("leaves to the compiler whatever is not plain, wherever in the schema it stands", () => {
    const parts: ReadonlyArray<Record<string, unknown>> = [
      { pattern: "^(a+)+$" },
      { format: "email" },
      { $ref: "#" },
      { allOf: [{}] },
      { not: false },
      { uniqueItems: true },
      { nullable: true, type: "string" },
      { type: "text" },
      { type: [] },
      { minLength: "1" },
      { enum: [{}] },
      { enum: Array.from({ length: 200 }, (_, n) => n) },
      { properties: { toString: true } },
      { required: ["__proto__"] },
      { items: [{}] },
      { anyOf: [] },
    ]
    for (const part of parts) {
      assert.isFalse(plainlyFits(part, "x"), JSON.stringify(part))
      assert.isFalse(plainlyFits({ properties: { seldom: part } }, {}), JSON.stringify(part))
      assert.isFalse(plainlyFits({ anyOf: [true, part] }, {}), JSON.stringify(part))
    }
  })

  it("gives up on what takes many steps", () => {
    const wide = { type: "array", items: { anyOf: Array.from({ length: 50 }, () => ({ type: "null" })) } }
    assert.isTrue(plainlyFits(wide, [null]))
    assert.isFalse(
      plainlyFits(
        wide,
        Array.from({ length: 4000 }, () => null),
      ),
    )
    assert.isUndefined(compileSchema(wide).check(Array.from({ length: 4000 }, () => null)))
  })
})
