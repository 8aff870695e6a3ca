import { join } from "node:path"
import { type Check, home, orWords, run } from "./kit.ts"

interface Report {
  readonly processed: number
  readonly faults: ReadonlyArray<string>
}

/** knip: files, exports and dependencies nobody uses. Its own reports do not say how much it looked at, ours does. */
export const unused: Check = async (root) => {
  const reporter = join(home, "scripts/checks/knipReporter.ts")
  const out = await run(root, "knip", ["--no-progress", "--no-config-hints", "--reporter", reporter])
  const line = out.stdout.split("\n").find((it) => it.startsWith(`{"processed"`))
  if (line === undefined) return { looked: 0, unit: "files", faults: orWords([], { ...out, code: 1 }) }
  const report = JSON.parse(line) as Report
  return { looked: report.processed, unit: "files", faults: orWords(report.faults, out) }
}
