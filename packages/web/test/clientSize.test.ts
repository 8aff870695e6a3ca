/** What a page loads to speak with the house: the client by its table, without the contract and Effect. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, expect, it } from "vitest"
import { build } from "vite"

// Beside this file, so that it finds the packages.
const folder = mkdtempSync(join(import.meta.dirname, ".size-"))
afterAll(() => rmSync(folder, { recursive: true }))

it("the client of a page is at most 8 kB", async () => {
  const entry = join(folder, "page.ts")
  writeFileSync(entry, `import { connect } from "@stoa/sdk"\nconsole.log(connect({ url: location.origin }))\n`)
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: { write: false, rolldownOptions: { input: entry } },
  })
  const [{ output }] = [built].flat() as unknown as [{ readonly output: ReadonlyArray<{ readonly code?: string }> }]
  const code = output.map((chunk) => chunk.code ?? "").join("")
  expect(code).toContain("/api/v1/principals")
  expect(gzipSync(code).length).toBeLessThan(8 * 1024)
})
