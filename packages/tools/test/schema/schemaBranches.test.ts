import { assert, describe, it } from "@effect/vitest"
import { compileSchema } from "../../src/schema/compile.ts"

/** Each level asks the next one twice: 2^levels alternatives. */
const doubling = (levels: number, of: "anyOf" | "oneOf") => ({
  type: "object",
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` }
      return [`d${at}`, at === levels - 1 ? { type: "string" } : { [of]: [next, next] }]
    }),
  ),
  properties: { a: { $ref: "#/$defs/d0" } },
})

describe("alternatives of a schema", () => {
  for (const of of ["anyOf", "oneOf"] as const)
    it(`${of} that leads to ${of} ends at a number, and the next check begins anew`, () => {
      const { check } = compileSchema(doubling(24, of))
      for (let n = 0; n < 3; n++) assert.match(check({ a: 1 })?.says ?? "", /too many alternatives/)
      assert.isUndefined(check({ b: 1 }))
      assert.match(compileSchema(doubling(8, of)).check({ a: 1 })?.expected ?? "", /string|alternatives/)
    })

  it("a long list of values that fit one of several is no attack", () => {
    const item = { anyOf: [{ type: "null" }, { oneOf: [{ type: "string" }, { type: "integer" }] }] }
    const { check } = compileSchema({ type: "array", items: item })
    assert.isUndefined(check(Array.from({ length: 400_000 }, (_, n) => n % 7)))
    assert.strictEqual(check([1, true])?.path, "1")
  })

  it("values that look like schemas are compared as they are; properties may have any name", () => {
    const value = { anyOf: [1, 2] }
    const { check } = compileSchema({
      type: "object",
      properties: {
        a: { const: value },
        b: { enum: [value] },
        const: { anyOf: [{ type: "null" }, { type: "string" }] },
      },
    })
    assert.isUndefined(check({ a: value, b: value, const: "x" }))
    assert.strictEqual(check({ a: { anyOf: [1] } })?.path, "a")
    assert.strictEqual(check({ const: 7 })?.path, "const")
  })
})
