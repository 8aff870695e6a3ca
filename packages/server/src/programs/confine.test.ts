import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { confine, find, give, putInside } from "./confine.ts"

const withFolder = (body: (outer: string, outside: string) => void): void => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "stoa-confine-")))
  try {
    const [outer, outside] = [join(folder, "in"), join(folder, "out")]
    mkdirSync(outer)
    mkdirSync(outside)
    body(outer, outside)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it("S3-43 a subdirectory stays inside of the workspace by its real path, and is made where it is not there", () => {
  withFolder((outer, outside) => {
    assert.strictEqual(confine(outer, "a/b"), join(outer, "a", "b"))
    for (const way of ["..", "a/../..", "../out", outside, "a/\0"]) assert.throws(() => confine(outer, way))
    symlinkSync(outside, join(outer, "link"))
    assert.throws(() => confine(outer, "link"), /contains a link/)
    assert.throws(() => confine(outer, "link/new"), /contains a link/)
    symlinkSync("a", join(outer, "near"))
    assert.throws(() => confine(outer, "near/b"), /contains a link/)
    assert.deepStrictEqual(readdirSync(outside), [])
    writeFileSync(join(outer, "file"), "")
    assert.throws(() => confine(outer, "file"), /not a folder/)
  })
})

it("a file of the house's is written over a planted link, never through it", () => {
  withFolder((outer, outside) => {
    writeFileSync(join(outside, "theirs"), "theirs")
    mkdirSync(join(outer, ".cursor"))
    symlinkSync(join(outside, "theirs"), join(outer, ".cursor", "mcp.json"))
    putInside(outer, ".cursor/mcp.json", "ours")
    assert.strictEqual(readFileSync(join(outside, "theirs"), "utf8"), "theirs")
    assert.strictEqual(readFileSync(join(outer, ".cursor", "mcp.json"), "utf8"), "ours")
    rmSync(join(outer, ".cursor"), { recursive: true })
    symlinkSync(outside, join(outer, ".cursor"))
    assert.throws(() => putInside(outer, ".cursor/mcp.json", "ours"), /contains a link/)
    assert.deepStrictEqual(readdirSync(outside), ["theirs"])
  })
})

it.skipIf(process.getuid?.() !== 0)(
  "what is given to a user is what lies in the folder, and nothing that a link names",
  () => {
    withFolder((outer, outside) => {
      writeFileSync(join(outside, "theirs"), "theirs")
      mkdirSync(join(outer, "a", "b"), { recursive: true })
      writeFileSync(join(outer, "a", "b", "file"), "")
      symlinkSync(outside, join(outer, "a", "link"))
      symlinkSync(join(outside, "theirs"), join(outer, "near"))
      give(outer, { uid: 65534, gid: 65534 })
      for (const path of ["", "a", "a/b", "a/b/file", "a/link", "near"])
        assert.strictEqual(lstatSync(join(outer, path)).uid, 65534, path)
      for (const path of [outside, join(outside, "theirs")]) assert.strictEqual(lstatSync(path).uid, 0)
      const link = join(outside, "..", "in-link")
      symlinkSync(outside, link)
      assert.throws(() => give(link, { uid: 65534, gid: 65534 }))
    })
  },
)

it("a folder that was exchanged for another since it was looked at is not used", () => {
  withFolder((outer, outside) => {
    const { id } = find(outer)
    assert.strictEqual(confine(outer, "a", undefined, id), join(outer, "a"))
    rmSync(outer, { recursive: true })
    renameSync(outside, outer)
    assert.throws(() => confine(outer, "a", undefined, id), /exchanged for another folder/)
    assert.throws(() => putInside(outer, "file", "text", undefined, id), /exchanged for another folder/)
    assert.deepStrictEqual(readdirSync(outer), [])
  })
})
