/** A folder for as long as the tests of this file run. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const made: Array<string> = []
const clear = () => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}
// Registered before any hook of the file itself, and so run after them. A bench that borrows a kit has no suite.
if (process.env["VITEST"] === undefined) process.once("exit", clear)
else afterAll(clear)

export const temporary = (name = "stoa-test"): string => {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  made.push(folder)
  return folder
}
