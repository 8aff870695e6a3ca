// `npm run conformance [-- --client] [--server] [--serve] [revision…] [address…]`: the frozen sets of
// @modelcontextprotocol/conformance against our own client and our own server, with no expected failures: a warning fails
// the run too. `--serve` starts what the server's side is run against, prints the addresses and waits.
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import "./exitWithParent.ts"

const revisions = ["2025-11-25", "2026-07-28"]
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const client = at("../packages/tools/test/fixtures/conformanceClient.ts")
const house = at("../packages/server/test/conformance/serve.ts")
const require = createRequire(import.meta.url)
const suite = join(dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js")

const asked = process.argv.slice(2)
const wants = (flag: string) => asked.includes(flag)
const both = !wants("--client") && !wants("--server") && !wants("--serve")
const picked = revisions.filter((it) => asked.includes(it))
const out = mkdtempSync(join(tmpdir(), "stoa-conformance-"))
process.on("exit", () => rmSync(out, { recursive: true, force: true }))
const none = join(out, "none.yml")
writeFileSync(none, "client: []\nserver: []\n")

/** What is expected to fail: nothing, but for what an old server has no words for. */
const expectedOf = (name: string, revision: string): string => {
  const file = at(`../packages/server/test/conformance/${name}.${revision}.yml`)
  return existsSync(file) ? file : none
}
const linesOf = (file: string): ReadonlyArray<string> =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => /^ {2}- (\S+)$/.exec(line)?.[1] ?? [])

const run = (
  name: string,
  revision: string,
  side: string,
  options: Record<string, string>,
  expected = none,
): Promise<boolean> => {
  const results = join(out, `${name}-${revision}`)
  const all = { ...options, requirements: revision, "expected-failures": expected, "output-dir": results }
  const args = Object.entries(all).flatMap(([key, value]) => [`--${key}`, value])
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [suite, side, ...args], { stdio: ["ignore", "pipe", "inherit"] })
    let said = ""
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
    child.once("exit", (code) => {
      const { bad, checks, scenarios } = countIn(results, linesOf(expected))
      const ok = code === 0 && bad.length === 0 && scenarios > 0
      if (!ok) console.log(said)
      for (const line of bad) console.log(`  ${line}`)
      console.log(
        `${name}, ${revision}: ${ok ? "passed" : "FAILED"}; ${scenarios} scenarios, ${checks} checks; details in ${results}`,
      )
      resolve(ok)
    })
  })
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Every check of every scenario, those that are not scored too: what fails or warns fails the run. */
const countIn = (folder: string, expected: ReadonlyArray<string>) => {
  const bad: Array<string> = []
  let checks = 0
  const scenarios = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((it) =>
    it.endsWith("checks.json"),
  )
  for (const file of scenarios)
    for (const { errorMessage, id, status } of JSON.parse(readFileSync(join(folder, file), "utf8")) as Array<Check>) {
      if (status === "SUCCESS") checks++
      const listed = expected.some((it) => file.startsWith(`server-${it.split(":")[0]!}-`) && it.endsWith(`:${id}`))
      if ((status === "FAILURE" || status === "WARNING") && !listed)
        bad.push(`${status} ${dirname(file)} ${id}: ${errorMessage ?? ""}`)
    }
  return { bad, checks, scenarios: scenarios.length }
}

const clientSide = (revision: string) =>
  // All scenarios start at once, each with a client of its own: a small machine needs a while for that.
  run("client", revision, "client", { command: `${process.execPath} ${client}`, timeout: "180000" })

/** The house of fixtures, and where it answers. */
const start = (): Promise<{ readonly child: ChildProcess; readonly addresses: Record<string, string> }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [house], { stdio: ["ignore", "pipe", "inherit", "ipc"] })
    createInterface({ input: child.stdout! }).once("line", (line) =>
      resolve({ child, addresses: JSON.parse(line) as Record<string, string> }),
    )
    child.once("exit", (code) => reject(new Error(`the house of fixtures ended with ${code}`)))
  })

const chosen = picked.length > 0 ? picked : revisions
const verdicts: Array<boolean> = []
if (both || wants("--client")) for (const revision of chosen) verdicts.push(await clientSide(revision))
if (both || wants("--server") || wants("--serve")) {
  const { addresses, child } = await start()
  if (wants("--serve")) {
    for (const [name, address] of Object.entries(addresses)) console.log(`${name} ${address}`)
    await new Promise((resolve) => child.once("exit", resolve))
  } else {
    const named = Object.entries(addresses).filter(([name]) => asked.includes(name))
    for (const [name, url] of named.length > 0 ? named : Object.entries(addresses))
      for (const revision of chosen)
        verdicts.push(await run(`server (${name})`, revision, "server", { url }, expectedOf(name, revision)))
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGTERM")
    await ended
  }
}
process.exitCode = verdicts.every(Boolean) ? 0 : 1
