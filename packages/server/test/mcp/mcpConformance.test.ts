/**
 * The frozen server sets of the official suite, against a toolset of fixtures and against the same fixtures behind servers of
 * either era: `npm run conformance -- --server`. Nothing is expected to fail but what an old server has no words for, which
 * stands in `conformance/old-server.2026-07-28.yml`, line by line with its reason.
 */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { isLong } from "../../../../test/long.ts"

const script = fileURLToPath(new URL("../../../../scripts/conformance.ts", import.meta.url))

const run = (address: string): Promise<{ readonly code: number; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [script, "--server", address], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, said: `${stdout}${stderr}` }),
    )
  })

// Each has houses of its own; most of the time they wait for what takes a while on purpose.
describe.concurrent("conformance of the server", () => {
  for (const [address, old, now] of [
    ["toolset", "33 scenarios, 83 checks", "50 scenarios, 196 checks"],
    ["old-server", "33 scenarios, 80 checks", "50 scenarios, 187 checks"],
    // What is left to translate for a server of the new era is translated for the old one too.
    ...(isLong ? ([["new-server", "33 scenarios, 80 checks", "50 scenarios, 196 checks"]] as const) : []),
  ] as const)
    it(
      `X-39 the suite's sets of both eras pass whole, without a warning: ${address}`,
      { timeout: 300_000 },
      async () => {
        const { code, said } = await run(address)
        assert.strictEqual(code, 0, said)
        assert.include(said, `server (${address}), 2025-11-25: passed; ${old}`)
        assert.include(said, `server (${address}), 2026-07-28: passed; ${now}`)
      },
    )
})
