import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, it } from "vitest"

it("the first tool runs as its README says", () => {
  const said = execFileSync(process.execPath, [join(import.meta.dirname, "main.ts")], { encoding: "utf8" })
  expect(said).toContain("registered, called, refused and approved")
})
