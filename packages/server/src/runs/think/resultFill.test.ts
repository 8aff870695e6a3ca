import { assert, describe, it } from "@effect/vitest"
import { resultFill } from "./resultFill.ts"

describe("what rules may say of a result", () => {
  it("a text, the fields of an object, and a line for each thing of a list", () => {
    assert.deepStrictEqual(resultFill("done"), { result: "done" })
    assert.deepStrictEqual(resultFill(undefined), {})
    const structured = { structuredContent: { temperature: 18, place: "Piraeus" }, content: [] }
    assert.deepInclude(resultFill(structured), { "result.temperature": "18", "result.place": "Piraeus" })
    const items = [{ content: "one" }, { name: "two" }, { other: true }]
    assert.strictEqual(resultFill({ items })["result.list"], "- one\n- two")
  })

  it("is bounded, whatever a tool gives", () => {
    const all = resultFill({ text: "x".repeat(10_000), items: Array.from({ length: 1000 }, () => "y".repeat(1000)) })
    for (const part of Object.values(all)) assert.isBelow(part.length, 2100)
  })
})
