/** The frozen server sets of the official suite, with nothing expected to fail: `npm run conformance -- --server`. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const script = fileURLToPath(new URL("../../../scripts/conformance.ts", import.meta.url))

const run = (revision: string): Promise<{ readonly code: number; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [script, "--server", "toolset", revision], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, said: `${stdout}${stderr}` }),
    )
  })

describe("conformance of the server", () => {
  for (const [revision, scenarios, checks] of [
    ["2025-11-25", 33, 83],
    ["2026-07-28", 50, 196],
  ] as const)
    it(`X-39 the suite's set of ${revision} passes whole, without a warning`, { timeout: 180_000 }, async () => {
      const { code, said } = await run(revision)
      assert.strictEqual(code, 0, said)
      assert.include(said, `server (toolset), ${revision}: passed; ${scenarios} scenarios, ${checks} checks`)
    })
})
