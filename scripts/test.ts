// `npm test [-- --long] [vitest arguments]`: the checks, then every suite. The last line is `N passed, N failed`, for both.
import { relative } from "node:path"
import type { CliOptions, TestModule } from "vitest/node"
import { judgeAll, line } from "./checks/all.ts"
import { home } from "./checks/kit.ts"
import "./exitWithParent.ts"

interface Count {
  passed: number
  failed: number
}

const checked = async (): Promise<Count> => {
  const verdicts = await judgeAll(home, (verdict) => console.log(line(verdict)))
  const passed = verdicts.filter((verdict) => verdict.ok).length
  return { passed, failed: verdicts.length - passed }
}

/** A file that cannot be loaded, or whose hooks fail, has no failed test in it: it counts as one. */
const countModule = (module: TestModule): Count => {
  const count = { passed: 0, failed: 0 }
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    if (state === "passed") count.passed++
    if (state === "failed" || state === "pending") count.failed++
  }
  if (!module.ok() && count.failed === 0) count.failed++
  return count
}

interface Ran {
  readonly modules: ReadonlyMap<string, Count>
  /** Errors of no test, and folders or processes that tests have left behind. */
  readonly beside: number
}

const ran = async (filter: ReadonlyArray<string>, options: CliOptions): Promise<Ran> => {
  // Imported only here: vitest decides about colours when it is loaded.
  const { startVitest } = await import("vitest/node")
  // Snapshots are compared, and never written, here as in CI: `npx vitest run -u <path>` writes them.
  const vitest = await startVitest([...filter], { update: "none", ...options, root: home, watch: false })
  const modules = new Map(vitest.state.getTestModules().map((module) => [module.moduleId, countModule(module)]))
  const unhandled = vitest.state.getUnhandledErrors().length
  await vitest.close()
  // Told by test/global-setup.ts at its end.
  const clean = process.env["LEFT_BEHIND"] === "0"
  return { modules, beside: (unhandled > 0 ? 1 : 0) + (clean ? 0 : 1) }
}

/** More files than these fail for another reason than a busy machine. */
const maxAgain = 8

/**
 * A file that fails beside others is run again with the machine to itself, and named: what fails then has failed. What passes
 * then is a test that does not bear a busy machine, to be mended all the same.
 */
const tested = async (args: ReadonlyArray<string>): Promise<Count> => {
  const { parseCLI } = await import("vitest/node")
  const { filter, options } = parseCLI(["vitest", "run", ...args])
  const first = await ran(filter, options)
  const failing = [...first.modules].flatMap(([file, { failed }]) => (failed > 0 ? [file] : []))
  const modules = new Map(first.modules)
  let beside = first.beside
  if (failing.length > 0 && failing.length <= maxAgain) {
    console.log(`\nAgain, alone:${failing.map((file) => `\n  ${relative(home, file)}`).join("")}`)
    const again = await ran(failing, { ...options, maxWorkers: 1 })
    beside += again.beside
    for (const [file, count] of again.modules) {
      modules.set(file, count)
      console.log(`${count.failed > 0 ? "Failed" : "Passed only when run again, alone"}: ${relative(home, file)}`)
    }
  }
  const counts = [...modules.values()]
  const passed = counts.reduce((sum, it) => sum + it.passed, 0)
  const failed = counts.reduce((sum, it) => sum + it.failed, 0) + beside
  // No test at all is a failure too: a pattern that matches nothing must not look like success.
  return { passed, failed: passed + failed === 0 ? 1 : failed }
}

if (!process.stdout.isTTY) process.env["NO_COLOR"] = "1"
const args = process.argv.slice(2)
if (args.includes("--long")) process.env["STOA_TEST_LONG"] = "1"

const checks = await checked()
const tests = await tested(args.filter((arg) => arg !== "--long")).catch((error: unknown) => {
  console.error(error)
  return { passed: 0, failed: 1 }
})
const failed = checks.failed + tests.failed
console.log(`\n${checks.passed + tests.passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
