/** Forms at the command line: what fields ask for, and how typed text becomes what the schema requires. */
import { describe, expect, it } from "vitest"
import { answerFrom, fieldsOf, fill, fromFlags, read } from "./form.ts"

const schema = {
  type: "object",
  properties: {
    word: { type: "string", description: "Say\u202e it" },
    count: { type: "integer" },
    share: { type: "number", default: 0.5 },
    sure: { type: "boolean" },
    choice: { enum: ["red", 7, null] },
    tags: { type: "array" },
    any: {},
  },
  required: ["word", "count"],
}
const fields = fieldsOf(schema)
const field = (name: string) => fields.find((one) => one.name === name)!

describe("a form at the command line", () => {
  it("G-37 reads each kind of field as its schema wants it, and says what is wrong otherwise", () => {
    const table: ReadonlyArray<readonly [string, string, unknown]> = [
      ["word", "7", "7"],
      ["word", "", ""],
      ["count", "12", 12],
      ["count", "-3", -3],
      ["share", "0.25", 0.25],
      ["sure", "y", true],
      ["sure", "No", false],
      ["choice", "red", "red"],
      ["choice", "7", 7],
      ["choice", "null", null],
      ["tags", '["a"]', ["a"]],
      ["any", '{"a":1}', { a: 1 }],
      ["any", "plain", "plain"],
    ]
    for (const [name, text, value] of table) expect(read(field(name), text), `${name} ${text}`).toEqual({ value })
    for (const [name, text] of [
      ["count", "1.5"],
      ["count", ""],
      ["count", "many"],
      ["share", "Infinity"],
      ["sure", "maybe"],
      ["choice", "green"],
      ["tags", "a, b"],
    ] as const)
      expect(read(field(name), text), `${name} ${text}`).toHaveProperty("fault")
  })

  it("fills it from flags, and names the fields there are for one there is not", () => {
    expect(fromFlags(fields, ["word=a=b", "count=2"])).toEqual({ value: { word: "a=b", count: 2 } })
    for (const bad of ["word", "=x", "other=1"])
      expect(fromFlags(fields, [bad])).toMatchObject({ fault: expect.stringContaining("`word`, `count`") })
    expect(fromFlags(fields, ["count=x"])).toEqual({ fault: "`count` is a whole number" })
    expect(fromFlags([], ["a=1"])).toMatchObject({ fault: expect.stringContaining("--value JSON") })
    expect([fieldsOf(undefined), fieldsOf({ type: "string" })]).toEqual([[], []])
  })

  it("asks field by field: again where it does not fit, on where it may be left out", async () => {
    const typed = ["hello", "", "x", "3", "", "", "", "", ""]
    const asked: Array<string> = []
    const value = await fill(fields, async (prompt) => {
      asked.push(prompt)
      return typed.shift()!
    })
    expect(value).toEqual({ word: "hello", count: 3, share: 0.5 })
    expect(asked).toHaveLength(9)
    expect(asked[0]).toBe('`word` (required, string, "Say<U+202E> it"): ')
    expect(asked[2]).toMatch(/^It is required\.\n`count`/)
    expect(asked[3]).toMatch(/^`count` is a whole number\.\n`count`/)
  })

  it("at the terminal only a yes is a yes", async () => {
    const typed = (kind: string, ...words: ReadonlyArray<string>) => {
      const left = [...words]
      const one = { type: "object", properties: { word: { type: "string" } }, required: ["word"] }
      return answerFrom({ kind, ...(kind === "form" ? { schema: one } : {}) }, async () => left.shift()!)
    }
    for (const kind of ["approval", "form"])
      for (const other of ["", "Ja", "x", "1", "yesterday"]) expect(await typed(kind, other, "a")).toBeUndefined()
    for (const kind of ["approval", "form", "elicitation"]) expect(await typed(kind, "n")).toEqual({ verdict: "deny" })
    expect(await typed("approval", "y")).toEqual({ verdict: "approve" })
    expect(await typed("form", "Yes", "hi")).toEqual({ verdict: "submit", value: { word: "hi" } })
    expect(await typed("elicitation", "7")).toEqual({ verdict: "submit", value: 7 })
  })
})
