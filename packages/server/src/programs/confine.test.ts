import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { confine } from "./Workspaces.ts"

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
    assert.throws(() => confine(outer, "link"), /leads out/)
    assert.throws(() => confine(outer, "link/new"), /leads out/)
    symlinkSync(join(outer, "a"), join(outer, "near"))
    assert.strictEqual(confine(outer, "near/b"), join(outer, "a", "b"))
    writeFileSync(join(outer, "file"), "")
    assert.throws(() => confine(outer, "file"), /no folder/)
  })
})
