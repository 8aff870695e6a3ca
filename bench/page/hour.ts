/**
 * An hour of the page at a hundred messages a second, as `npm run test:long` has it: what the page holds on to after each
 * minute. Not among the figures that are run when none is named.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { number } from "../kit/measure.ts"
import { environment, root } from "../processes.ts"

const suite = "packages/web/test/browser/wholePage/hour.long.test.ts"

export const hour = async (): Promise<string> => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  // Fewer are for whoever tries this itself.
  const minutes = process.env["STOA_LONG_MINUTES"]
  const fewer: Record<string, string> = minutes === undefined ? {} : { STOA_LONG_MINUTES: minutes }
  const env = { ...environment({ STOA_TEST_LONG: "1", ...fewer }), NO_COLOR: "1" }
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run", suite], { cwd: root, env })
  const held = /^held, MB, minute by minute: (.+)$/m.exec(stdout)?.[1]?.split(" ").map(Number)
  if (held === undefined) throw new Error(`the hour did not say what was held:\n${stdout.slice(-2000)}`)
  const quarter = Math.ceil(held.length / 4)
  const parts = [0, 1, 2, 3].map((at) => held.slice(at * quarter, (at + 1) * quarter))
  const most = parts.map((part) => number(Math.max(...part))).join(", ")
  return `${held.length} minutes at 100 messages a second, ${suite}. What the page holds on to after a garbage collection: ${number(held[0]!)} MB after the first minute, ${number(held.at(-1)!)} after the last; most in each quarter ${most} (budget 150, flat). The newest message was on the screen after each minute, once, and the console said nothing.`
}
