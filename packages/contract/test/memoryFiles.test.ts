/** A folder of Markdown files that a person has edited, by hand or with an editor of any system. */
import { assert, describe, it } from "@effect/vitest"
import { memoryFilesOf, memoryLinesIn, type MemoryLineJson, memorySourcesIn } from "../src/index.ts"

const line: MemoryLineJson = {
  id: "mem_01a1e6cf-d10f-7000-bbed-b8ec41473bcc",
  namespace: "stoa",
  kind: "note",
  key: "2027",
  version: 3,
  current: true,
  content: "# Beds\n\n- beans\n---\n- key: peas\n",
  mediaType: "text/markdown",
  tags: ["green thumb", "a,b", "'quoted'"],
  public: false,
  pinned: true,
  seal: "ecfb",
}
const read = (text: string) => memoryLinesIn(new Map([["ideas/new.md", text]]))[0]

describe("memory files", () => {
  it("what was written is read again, also with Windows' line ends, a byte order mark, or without its last line end", () => {
    const [[path, text] = ["", ""]] = memoryFilesOf([line])
    assert.match(path, /^stoa\/note\/2027--[0-9a-f]{12}\.md$/)
    assert.deepStrictEqual(read(text), line)
    assert.deepStrictEqual(read(text.replaceAll("\n", "\r\n")), line)
    assert.deepStrictEqual(read(`\uFEFF${text}`), line)
    assert.deepStrictEqual(read("---\nkey: empty\n---"), { kind: "note", key: "empty", content: "" })
  })

  it("particulars are read as people write them", () => {
    const by = (particulars: string) => read(`---\n${particulars}\n---\nText\n`)
    const note = { kind: "note", content: "Text" } as const
    assert.deepStrictEqual(by("tags: [sea, 'by boat', 2027]"), { ...note, tags: ["sea", "by boat", "2027"] })
    assert.deepStrictEqual(by("tags: [2027]"), { ...note, tags: ["2027"] })
    assert.deepStrictEqual(by('tags:\n  - sea\n  - "by: boat"\nkey: x'), {
      ...note,
      tags: ["sea", "by: boat"],
      key: "x",
    })
    assert.deepStrictEqual(by("tags: sea, land"), { ...note, tags: ["sea", "land"] })
    assert.deepStrictEqual(by("tags:"), { ...note, tags: [] })
    assert.deepStrictEqual(by("# a remark: of mine\nkey: 2027\npinned: true"), { ...note, key: "2027", pinned: true })
    assert.deepStrictEqual(by("key: 'it''s: mine'\nkind: fact"), { ...note, kind: "fact", key: "it's: mine" })
  })

  it("a file without particulars is a note by its path, and every line knows where it stands", () => {
    const files = new Map([
      ["ideas/new.md", "Just this\n"],
      ["history.jsonl", `${JSON.stringify({ ...line, version: 1, current: false })}\n`],
    ])
    assert.deepStrictEqual(
      memorySourcesIn(files).map(({ line: { key }, place }) => [key, place]),
      [
        ["ideas/new", "ideas/new.md"],
        ["2027", "history.jsonl line 1"],
      ],
    )
  })
})
