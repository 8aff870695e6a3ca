import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, it } from "vitest"

it("the MCP example runs as its README says", () => {
  const said = execFileSync(process.execPath, [join(import.meta.dirname, "main.ts")], { encoding: "utf8" })
  expect(said).toContain("all of them gone again")
})
