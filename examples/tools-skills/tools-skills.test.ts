/** The example runs as a reader would run it, in a process of its own. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

it("code computes, the way out is guarded, files stay in their folder", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "main.ts")])
  expect(stdout).toContain("files stayed in their folder")
})
