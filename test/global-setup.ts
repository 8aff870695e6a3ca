// Once a run: a folder for everything temporary, and a Postgres for every test that wants one, by `inject("databaseUrl")`.
// Page and bundle are built once, or every house of a new checkout would begin to. At the end nothing may be left of folder and
// Postgres: what tests have left behind fails the run.
import { execFile } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"
import { makeTemplate } from "../packages/server/test/template.ts"
import { startPostgres } from "./postgres.ts"
import { installPrograms } from "./programs.ts"
import { makeRunFolder } from "./runFolder.ts"

declare module "vitest" {
  interface ProvidedContext {
    databaseUrl: string
    /** A database of that server that new ones are copied from. */
    databaseTemplate: string
  }
}

/** Programs that tests start and kill again and again: bundled, they start in half the time. */
const killed = ["calls/crash/callsProcess", "runs/houses/houseProcess", "store/crash/crashWriter", "store/folderOwner"]
const packages = join(import.meta.dirname, "../packages")
const bundlePrograms = async (folder: string): Promise<void> => {
  const { bundleInto } = (await import(pathToFileURL(join(packages, "cli/bundling.mjs")).href)) as {
    readonly bundleInto: (into: string, input: Readonly<Record<string, string>>) => Promise<unknown>
  }
  await bundleInto(
    folder,
    Object.fromEntries(killed.map((name) => [name, join(packages, "server/test", `${name}.ts`)])),
  )
}

/** Programs that were told to end a moment ago may still do so. */
const patienceMs = 30_000

export default async function (project: TestProject) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major < 22 || (major === 22 && minor < 19))
    throw new Error(`Tests need the Node that npm carried, this is ${process.version}: use npm test or npx vitest.`)
  installPrograms()
  const run = makeRunFolder()
  const builds = ["web/build.ts", "cli/bundle.mjs"].map((script) =>
    promisify(execFile)(process.execPath, [join(packages, script)]).catch((error: unknown) =>
      console.error(`${script} failed:`, error),
    ),
  )
  const programs = join(run.folder, "programs")
  process.env["TEST_PROGRAMS"] = programs
  // Without it they start from their sources.
  const bundled = bundlePrograms(programs).catch((error: unknown) => console.error("bundling failed:", error))
  const pg = await startPostgres()
  project.provide("databaseUrl", pg.socketUrl)
  project.provide("databaseTemplate", await makeTemplate(pg.socketUrl))
  await Promise.all([...builds, bundled])
  return async () => {
    await pg.stop()
    let left = run.leftovers()
    for (
      const until = performance.now() + patienceMs;
      left.length > 0 && performance.now() < until;
      left = run.leftovers()
    )
      await sleep(100)
    await run.end()
    console.log(`${left.length} left behind by tests${left.map((one) => `\n  ${one}`).join("")}`)
    process.env["LEFT_BEHIND"] = String(left.length)
    // Thrown here it fails the run, as a failed test does.
    if (left.length > 0) throw new Error(`Tests left ${left.length} folders or processes behind`)
  }
}
