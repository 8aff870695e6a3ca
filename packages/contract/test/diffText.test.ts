/** A diff as text is shown as one, by its schema and not by anybody's name, and nothing in it hides or passes for another line. */
import { assert, describe, it } from "@effect/vitest"
import { diffTextLines, exactLines, inputIn, isDiff } from "../src/index.ts"
import { hiddenCodePoints, hides } from "./hidden.ts"

const diff = [
  "diff --git a/run.sh b/run.sh",
  "--- a/run.sh",
  "+++ b/run.sh",
  "@@ -1,3 +1,3 @@ top",
  " same",
  "--- a/looks/like/a/header",
  "+++ b/looks/like/one",
  " @@ -1 +1 @@",
  "@@ -9 +9 @@",
  "-old",
  "+new",
  "\\ No newline at end of file",
  "",
].join("\n")

describe("a diff as text", () => {
  it("G-15 each line is what its hunk's counts make of it, whatever it looks like", () => {
    assert.deepStrictEqual(
      diffTextLines(diff).map(({ kind }) => kind),
      ["head", "head", "head", "head", "same", "del", "ins", "same", "head", "del", "ins", "head"],
    )
    assert.strictEqual(
      diffTextLines(diff)
        .map(({ text }) => text)
        .join("\n"),
      diff.trimEnd(),
    )
    // A hunk that promises more lines than there are, or none at all, hides nothing.
    for (const odd of ["@@ -1,999999999999999999999 +1 @@\n x", "@@ -0,0 +0,0 @@\n-a", "", "-a\n+b", "@@"])
      assert.strictEqual(diffTextLines(odd).length, odd === "" ? 1 : odd.split("\n").length)
  })

  it("G-15 nothing in a line is invisible: control characters, carriage returns, directions; a tab is seen", () => {
    for (const point of hiddenCodePoints()) {
      if (point === 0x0a || point === 0x09) continue
      const shown = diffTextLines(`@@ -1 +1 @@\n-a${String.fromCodePoint(point)}\n+b\n`)
      assert.isFalse(
        shown.some(({ text }) => hides(text)),
        point.toString(16),
      )
      assert.include(shown[1]!.text, `<U+${point.toString(16).toUpperCase().padStart(4, "0")}>`)
    }
    assert.deepStrictEqual(exactLines("a\r\nb"), ["a<U+000D>", "b"])
    assert.deepStrictEqual(exactLines("+\tx\ty\n⇥\tz"), ["+⇥  x⇥  y", "<U+21E5>⇥   z"])
  })

  it("G-15 a field is a diff by its schema; the rest of the input, and a diff that is none, stay JSON", () => {
    const property = { type: "string", contentMediaType: "text/x-diff" }
    const schema = { type: "object", properties: { patch: property, name: { type: "string" } } }
    assert.deepStrictEqual(
      [isDiff(schema, "patch"), isDiff(schema, "name"), isDiff(schema, "constructor"), isDiff(undefined, "patch")],
      [true, false, false, false],
    )
    const asking = { asker: { name: "s", kind: "agent" }, inputSize: 1, inputDigest: "d", schema }
    const shown = inputIn({ ...asking, call: { tool: "t", input: { name: "n\0", patch: diff } } })!
    assert.deepStrictEqual(JSON.parse(shown.lines.join("\n")), { name: "n\0" })
    assert.strictEqual(shown.diffs.length, 1)
    assert.match(shown.diffs[0]!.heading, /`patch` \(12 lines, \d+ characters\)/)
    const odd = inputIn({ ...asking, call: { tool: "t", input: { patch: [1] } } })!
    assert.deepStrictEqual([odd.diffs, JSON.parse(odd.lines.join("\n"))], [[], { patch: [1] }])
    for (const input of [null, "text", [1]])
      assert.deepStrictEqual(JSON.parse(inputIn({ ...asking, call: { tool: "t", input } })!.lines.join("\n")), input)
  })
})
