import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { expect, it, onTestFinished, vi } from "vitest"

const runFolder = join(import.meta.dirname, "runFolder.ts")

/** A runner that makes a folder in its TMPDIR and starts a program that outlives it, as a careless test would. */
const runner = (then: string): ChildProcess =>
  spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
const run = (await import(${JSON.stringify(runFolder)})).makeRunFolder()
mkdtempSync(join(tmpdir(), "stoa-left-"))
const outliving = spawn("/bin/sh", ["-c", "sleep 300 & echo $!"], { stdio: ["ignore", "pipe", "ignore"] })
outliving.stdout.once("data", async (said) => {
  console.log(JSON.stringify({ folder: run.folder, pid: Number(said), left: [] }))
  ${then}
})`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  )

interface Said {
  readonly folder: string
  readonly pid: number
  readonly left: ReadonlyArray<string>
}

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it("a folder and a process that a test leaves behind are named at the end, and go", async () => {
  const child = runner(`
  const left = run.leftovers()
  await run.end()
  console.log(JSON.stringify({ folder: run.folder, pid: Number(said), left }))`)
  const lines: Array<Said> = []
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(JSON.parse(line) as Said))
  await once(child, "close")
  const { folder, left, pid } = lines[1]!
  expect(left).toEqual([
    expect.stringMatching(/^folder .*stoa-left-/),
    // A shell that has not yet become what it starts is named as the shell.
    expect.stringMatching(`process ${pid}: .*sleep 300`),
  ])
  await vi.waitUntil(() => !lives(pid), { timeout: 60_000, interval: 20 })
  expect(existsSync(folder)).toBe(false)
})

it("a runner that is killed leaves neither behind", async () => {
  const child = runner("setInterval(() => {}, 1000)")
  onTestFinished(() => void child.kill("SIGKILL"))
  const [line] = (await once(createInterface({ input: child.stdout! }), "line")) as [string]
  const { folder, pid } = JSON.parse(line) as Said
  expect([existsSync(folder), lives(pid)]).toEqual([true, true])
  child.kill("SIGKILL")
  await vi.waitUntil(() => !existsSync(folder) && !lives(pid), { timeout: 60_000, interval: 50 })
})
