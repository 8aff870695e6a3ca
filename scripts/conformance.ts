// `npm run conformance -- --client [revision…]`: the frozen sets of @modelcontextprotocol/conformance against our own
// client, with no expected failures: a warning fails the run too. The server's side has its own flag, `--serve`.
import { spawn } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import "./leash.ts"

const revisions = ["2025-11-25", "2026-07-28"]
const client = fileURLToPath(new URL("../packages/tools/test/fixtures/conformanceClient.ts", import.meta.url))
const require = createRequire(import.meta.url)
const suite = join(dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js")

const run = (args: ReadonlyArray<string>): Promise<number> =>
  new Promise((resolve) => {
    spawn(process.execPath, [suite, ...args], { stdio: "inherit" }).once("exit", (code) => resolve(code ?? 1))
  })

const asked = process.argv.slice(2)
if (!asked.includes("--client")) {
  console.error("usage: npm run conformance -- --client [2025-11-25] [2026-07-28]; the server's side is not there yet")
  process.exit(2)
}
const picked = revisions.filter((it) => asked.includes(it))
const out = mkdtempSync(join(tmpdir(), "stoa-conformance-"))
const none = join(out, "none.yml")
writeFileSync(none, "client: []\nserver: []\n")

let failed = 0
for (const revision of picked.length > 0 ? picked : revisions) {
  const results = join(out, revision)
  const options = {
    command: `${process.execPath} ${client}`,
    requirements: revision,
    "expected-failures": none,
    "output-dir": results,
    // All scenarios start at once, each with a client of its own: a small machine needs a while for that.
    timeout: "180000",
  }
  const code = await run(["client", ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])])
  console.log(`client, ${revision}: ${code === 0 ? "passed" : "FAILED"}; details in ${results}`)
  failed += code === 0 ? 0 : 1
}
process.exitCode = failed === 0 ? 0 : 1
