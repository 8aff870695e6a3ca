import { assert, it } from "@effect/vitest"
import { readChanges } from "./changes.ts"

const [old, now] = ["1".repeat(40), "2".repeat(40)]
const section = (path: string, text: string): string =>
  `diff --git a/${path} b/${path}\nindex ${old}..${now} 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n${text}\n`
const output = (...files: ReadonlyArray<readonly [path: string, text: string]>): string =>
  `${files.map(([path]) => `:100644 100644 ${old} ${now} M\t${path}`).join("\n")}\n\n${files.map((file) => section(...file)).join("")}`

it("what can be read is shown, with the heading of another file inside of it", () => {
  const text = "-a\n+diff --git a/x b/x\n+:100644\n+tab\tand feed\f\n+crlf\r\n+ä 日本 ‏"
  assert.deepStrictEqual(readChanges(output(["a.txt", text])), {
    files: ["a.txt"],
    diff: section("a.txt", text),
    unshown: [],
  })
})

it("what a reader would not see as it is, is named instead", () => {
  for (const hidden of [
    "\0",
    "\x1b[2K",
    "a\rb",
    "\u202e",
    "\u2028diff --git a/x",
    "\u2066",
    "\u0085",
    "\x7f",
    "\ufffd",
  ]) {
    const said = readChanges(output(["a.sh", `+echo ${hidden}`], ["b.txt", "+b"]))
    assert.deepStrictEqual(
      said,
      { files: ["a.sh", "b.txt"], diff: section("b.txt", "+b"), unshown: [{ path: "a.sh", object: now }] },
      JSON.stringify(hidden),
    )
  }
})

it("a link in place of a file is two parts of one change; what has another form is nothing", () => {
  const both = section("a", "-file") + section("a", "+link")
  const raw = `:100644 120000 ${old} ${now} T\ta\n\n`
  assert.deepStrictEqual(readChanges(raw + both), { files: ["a"], diff: both, unshown: [] })
  assert.isUndefined(readChanges(raw + section("a", "-file")))
  assert.isUndefined(readChanges(output(["a", "+a"]) + section("b", "+b")))
  assert.deepStrictEqual(readChanges(""), { files: [], diff: "", unshown: [] })
})
