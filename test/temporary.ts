/** A folder for as long as the tests of this file run. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const made: Array<string> = []

/** Called by test/setup.ts at the end of every file. */
export const clear = (): void => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}
// A bench that borrows a kit has no suite.
if (process.env["VITEST"] === undefined) process.once("exit", clear)

export const temporary = (name = "stoa-test"): string => {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  made.push(folder)
  return folder
}
