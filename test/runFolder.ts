// One folder a test run. Every temporary folder of its tests, and of the programs they start, lies in it (it is their
// TMPDIR), so that what a test leaves behind is seen at the end, and goes. A shell removes it: when our end of its stdin
// closes, by `end()` or by kill -9 of the runner.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"

// A runner that was killed says nothing: then what still runs with this TMPDIR is ended first. Removed twice, since a
// program that is about to end may write once more.
const keep = `trap '' INT HUP TERM
read said || for p in /proc/[0-9]*; do grep -qsxz "TMPDIR=$1" $p/environ && kill -9 \${p#/proc/}; done
for n in 1 2 3 4 5; do rm -rf "$1" 2>/dev/null && [ "$n" -gt 1 ] && exit; sleep 0.2; done`

/** Where folders lie that outlive a run. */
export const outerTmpdir = (): string => process.env["OUTER_TMPDIR"] ?? tmpdir()

/** What Node and npm keep in any TMPDIR to be quicker the next time, and the programs that were bundled for this run. */
const ofNode = /^(node-compile-cache|npm-|v8-compile-cache|programs$)/

interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

const textOf = (read: () => string): string => {
  try {
    return read()
  } catch {
    // It has ended meanwhile, or is somebody else's.
    return ""
  }
}

const listProcesses = (): ReadonlyArray<Process> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const [state, parent] = textOf(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
        .replace(/^.*\) /s, "")
        .split(" ")
      const command = textOf(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
        .replaceAll("\0", " ")
        .trim()
      return parent === undefined || state === "Z" ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
    })

/** Whether a process works in the folder, was told of it, or has it as its TMPDIR. */
const isOf = ({ command, pid }: Process, folder: string): boolean =>
  command.includes(folder) ||
  textOf(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(folder) ||
  textOf(() => readFileSync(`/proc/${pid}/environ`, "utf8"))
    .split("\0")
    .includes(`TMPDIR=${folder}`)

/** Processes of a run that belong to nobody any more: neither to a runner or worker that still lives, nor to `except`. */
const orphansOf = (folder: string, except: ReadonlySet<number>): ReadonlyArray<Process> => {
  const all = process.platform === "linux" ? listProcesses() : []
  const parents = new Map(all.map(({ parent, pid }) => [pid, parent]))
  const spared = (pid: number): boolean =>
    pid === process.pid || except.has(pid) || (parents.has(pid) && spared(parents.get(pid)!))
  return all.filter((one) => isOf(one, folder) && !spared(one.pid))
}

export const makeRunFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "stoa-run-"))
  // As the temp folder itself: the tests' Postgres may be somebody else's process.
  chmodSync(folder, 0o1777)
  const keeper = spawn("/bin/sh", ["-c", keep, "keeper", folder], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  })
  keeper.unref()
  process.env["OUTER_TMPDIR"] = tmpdir()
  process.env["TMPDIR"] = folder
  // Programs of tests are started hundreds of times: each source is stripped of its types and compiled once a run.
  process.env["NODE_COMPILE_CACHE"] = join(folder, "node-compile-cache")
  const orphans = () => orphansOf(folder, new Set([keeper.pid!]))
  return {
    folder,
    /** What tests have left behind: folders, and processes that are nobody's. */
    leftovers: (): ReadonlyArray<string> => [
      ...readdirSync(folder)
        .filter((name) => !ofNode.test(name))
        .map((name) => `folder ${relative(outerTmpdir(), join(folder, name))}`),
      ...orphans().map(({ command, pid }) => `process ${pid}: ${command.slice(0, 200)}`),
    ],
    end: async (): Promise<void> => {
      for (const { pid } of orphans()) process.kill(pid, "SIGKILL")
      process.env["TMPDIR"] = outerTmpdir()
      keeper.ref()
      keeper.stdin.end("the end\n")
      if (keeper.exitCode === null) await once(keeper, "exit")
    },
  }
}
