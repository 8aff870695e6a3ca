/** Tables for people: as wide as necessary, and no wider than the terminal. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { table } from "./table.ts"

const id = "prn_01234567-89ab-cdef-0123-456789abcdef"

describe("table", () => {
  it("without a width nothing is cut", () => {
    const lines = table([{ name: "Ada", text: "x".repeat(300), id }], ["name", "text", "id"])
    assert.include(lines[1], "x".repeat(300))
  })

  it("at a terminal texts are cut and marked, ids never", () => {
    const rows = [{ seq: 1, text: "a long sentence ".repeat(20), id }]
    const lines = table(rows, ["seq", "text", "id"], 80)
    for (const line of lines) assert.isAtMost(line.length, 80)
    assert.include(lines[1], "…")
    assert.include(lines[1], id)
  })

  it.prop(
    "no line is wider than the terminal unless its ids and eight letters of each text are",
    {
      texts: Schema.Array(Schema.String.check(Schema.isMaxLength(60))),
      width: Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 200 })),
    },
    ({ texts, width }) => {
      const lines = table(
        texts.map((text) => ({ a: text.replaceAll("\n", " "), b: "x".repeat(50), id })),
        ["a", "b", "id"],
        width,
      )
      for (const line of lines) assert.isAtMost(line.length, Math.max(width, id.length + 2 * (8 + 2)))
    },
  )
})
