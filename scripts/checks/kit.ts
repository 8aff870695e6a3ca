// What every check shares: its answer, the files it looks at, the tools it runs.
// A check gets the folder to look at, so that tests can show it a fault; the tools are always this checkout's own.
import { spawn } from "node:child_process"
import { stripVTControlCharacters } from "node:util"
import { existsSync, readFileSync } from "node:fs"
import { delimiter, join, resolve } from "node:path"

export interface Answer {
  /** How many things were looked at. 0 is a failure: a blind check must not say "ok". */
  readonly looked: number
  readonly unit: string
  readonly faults: ReadonlyArray<string>
  /** Why there was nothing to look at, when that is no fault. */
  readonly skipped?: string
}
export type Check = (root: string) => Promise<Answer>

export const home = resolve(import.meta.dirname, "../..")
export const modules = join(home, "node_modules")

export interface Output {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}
/** Runs a tool of node_modules/.bin on the Node that runs us, whatever Node the shell has. */
export const run = (root: string, command: string, args: ReadonlyArray<string>): Promise<Output> =>
  new Promise((done, fail) => {
    const path = [join(modules, ".bin"), process.env["PATH"]].join(delimiter)
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, PATH: path, NO_COLOR: "1", FORCE_COLOR: "0", JITI_FS_CACHE: "false" },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.once("error", fail)
    child.once("close", (code) => done({ code: code ?? 1, stdout: plain(stdout), stderr: plain(stderr) }))
  })

/** Some tools colour their words in CI, whatever they are told. */
const plain = (text: string): string => stripVTControlCharacters(text)

/** What git would commit: tracked, and new but not ignored. */
export const files = async (root: string): Promise<ReadonlyArray<string>> => {
  const listed = await run(root, "git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
  if (listed.code !== 0) throw new Error(`git ls-files: ${listed.stderr.trim()}`)
  return [...new Set(listed.stdout.split("\0"))]
    .filter((path) => path !== "" && existsSync(join(root, path)))
    .toSorted()
}

export const read = (root: string, path: string): string => readFileSync(join(root, path), "utf8")

export const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line.trim() !== "")

export const isSource = (path: string) => /\.(ts|tsx|mts|mjs|cjs|js)$/.test(path) && !path.endsWith(".gen.ts")

export const isTest = (path: string) => /\.test\.tsx?$/.test(path) || /(^|\/)test\//.test(path)

/** The answer of a tool that ended badly without naming a fault: its own words are the fault. */
export const orWords = (faults: ReadonlyArray<string>, out: Output): ReadonlyArray<string> =>
  faults.length > 0 || out.code === 0 ? faults : lines(`${out.stdout}\n${out.stderr}`).slice(0, 20)

/** The folders of the server that are no rooms: they stand above all of them, as the files beside them do. */
export const foldersAbove: ReadonlyArray<string> = ["configuration", "start", "operations"]
