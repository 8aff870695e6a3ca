/**
 * The house's own git: without hooks, filters, the user's settings or a terminal, and only on folders that no program writes
 * to but as plain files. What a program did to a `.git` of its own is never read here.
 */
// edge: a file of settings for git
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { runProcess } from "./process.ts"

/** A file, and not arguments: git forgets those where it starts itself for another folder. */
const settings = `[core]
	hooksPath = /dev/null
	fsmonitor = false
	attributesFile = /dev/null
	excludesFile = /dev/null
[safe]
	directory = *
[protocol]
	allow = never
[protocol "file"]
	allow = always
[submodule]
	recurse = false
[diff]
	ignoreSubmodules = all
[gc]
	auto = 0
[user]
	name = stoa
	email = stoa@localhost
[commit]
	gpgSign = false
[init]
	defaultBranch = main
`
const seconds = 120

export class GitFailure {
  readonly _tag = "GitFailure"
  readonly code: number | null
  readonly said: string
  readonly message: string
  constructor(code: number | null, said: string, stderr: string) {
    this.code = code
    this.said = said
    this.message = stderr.trim().slice(-500) || `git ended with ${code}`
  }
}

export type Git = (
  args: ReadonlyArray<string>,
  more?: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly stdin?: string },
) => Effect.Effect<string, GitFailure>

/** `folder` is the house's own, where no program writes. */
export const makeGit = (folder: string): Git => {
  const file = join(folder, "gitconfig")
  let written = false
  return (args, { cwd = folder, env = {}, stdin = "" } = {}) =>
    Effect.suspend(() => {
      if (!written) {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(file, settings, { mode: 0o600 })
        written = true
      }
      const pieces: Array<string> = []
      const all = {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: folder,
        LC_ALL: "C",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: file,
        GIT_TERMINAL_PROMPT: "0",
        GIT_OPTIONAL_LOCKS: "0",
        ...env,
      }
      return Effect.flatMap(
        runProcess({ command: "git", args, env: all, cwd, graceMs: 1000 }, stdin, seconds, (chunk) => {
          pieces.push(chunk)
        }),
        (ran) => {
          const said = pieces.join("")
          if (ran.end === "exited" && ran.code === 0) return Effect.succeed(said)
          if (ran.end === "exited" && !ran.startable)
            return Effect.fail(new GitFailure(null, "", "there is no git here"))
          return Effect.fail(
            ran.end === "exited"
              ? new GitFailure(ran.code, said, ran.stderr)
              : new GitFailure(null, said, ran.end === "late" ? "git took too long" : "it is too much to be shown"),
          )
        },
      )
    })
}
