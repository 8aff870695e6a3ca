/**
 * The house's own git: in a box in which it sees what it works on and nothing else (decision 140), because a program may change that
 * meanwhile; and without hooks, filters, drivers, the user's settings or a terminal. A repository's own settings
 * can name programs too, under arbitrary names (`filter.x.clean`, `hook.x.command`): so changes to a repository are
 * made in a view of it that has our settings (`viewOf`), and commands that read one start nothing.
 */
// edge: a file of settings for git, and links
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { give } from "./confine.ts"
import { type Bind, cellArguments, type Isolation, type User } from "./isolation.ts"
import { runProcess } from "./process.ts"

/** A file, because git drops other forms of settings when it starts itself for another folder. */
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
/**
 * Passed with every command, because a repository's own settings override a file. They disable every setting that names
 * a program.
 */
const outweighing: ReadonlyArray<readonly [string, string]> = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.alternateRefsCommand", ":"],
  ["core.sshCommand", "false"],
  ["core.gitProxy", ""],
  ["core.editor", ":"],
  ["core.pager", "cat"],
  ["credential.helper", ""],
  ["diff.external", ""],
  ["gpg.program", "false"],
  ["commit.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
]
const guarded = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  // Whatever a repository allows: only the file protocol, and missing objects are not fetched.
  GIT_ALLOW_PROTOCOL: "file",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_CONFIG_COUNT: String(outweighing.length),
  ...Object.fromEntries(
    outweighing.flatMap(([key, value], n) => [
      [`GIT_CONFIG_KEY_${n}`, key],
      [`GIT_CONFIG_VALUE_${n}`, value],
    ]),
  ),
}
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

export interface GitOptions {
  /** What it sees, and as whom it runs. */
  readonly sees: ReadonlyArray<Bind>
  readonly user: User | undefined
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  /** Takes its output instead of the result, up to `most` bytes. */
  readonly take?: (chunk: Buffer) => void
  readonly most?: number
}
export type Git = (args: ReadonlyArray<string>, options: GitOptions) => Effect.Effect<string, GitFailure>

/** `folder` is the house's own; no program can write there. */
export const makeGit = (folder: string, isolation: Isolation): Git => {
  const file = join(folder, "gitconfig")
  let written = false
  return (args, { cwd, env = {}, most, sees, stdin = "", take, user }) =>
    Effect.suspend(() => {
      const isolated = isolation()
      if (isolated === undefined)
        return Effect.fail(
          new GitFailure(null, "", "git works on files of programs in a sandbox, and this machine has none that works"),
        )
      if (!written) {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(file, settings, { mode: 0o644 })
        written = true
      }
      const pieces: Array<Buffer> = []
      const all = {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: "/",
        LC_ALL: "C",
        GIT_CONFIG_GLOBAL: file,
        ...guarded,
        ...env,
      }
      const binds = [{ path: file, write: false }, ...sees]
      const [command, before] =
        isolated.bwrap === undefined
          ? ["git", []]
          : [isolated.bwrap, [...cellArguments({ binds, at: cwd ?? "/", user }), "git"]]
      return Effect.flatMap(
        runProcess(
          {
            command,
            args: [...before, ...args],
            env: all,
            cwd: isolated.bwrap === undefined ? cwd : "/",
            graceMs: 1000,
          },
          stdin,
          seconds,
          take ?? ((chunk) => void pieces.push(chunk)),
          most,
        ),
        (ran) => {
          const said = Buffer.concat(pieces).toString()
          if (ran.end === "exited" && ran.code === 0) return Effect.succeed(said)
          if (ran.end === "exited" && !ran.startable)
            return Effect.fail(new GitFailure(null, "", "git is not installed on this machine"))
          return Effect.fail(
            ran.end === "exited"
              ? new GitFailure(ran.code, said, ran.stderr)
              : new GitFailure(
                  null,
                  said,
                  ran.end === "late" ? "git took too long" : "the changes are too large to show",
                ),
          )
        },
      )
    })
}

const first = (text: string): string => text.trim().split("\n")[0] ?? ""

/** The parts of a repository in a view of it: its content, without anything that configures git. */
const shown = ["objects", "refs", "packed-refs", "reftable", "shallow"]
const sharing = /^(group|all|world|everybody|true|false|umask|0?[0-7]{3})$/

/**
 * A repository without its settings and hooks: its objects and references, linked into a folder of ours, until the
 * scope ends. `ask` runs git in the repository.
 */
export const viewOf = Effect.fnUntraced(function* (
  ask: (...args: ReadonlyArray<string>) => Effect.Effect<string, GitFailure>,
  folder: string,
  user: User | undefined,
) {
  const asked = (...args: ReadonlyArray<string>) =>
    Effect.map(
      Effect.catch(ask(...args), () => Effect.succeed("")),
      first,
    )
  const common = first(yield* ask("rev-parse", "--path-format=absolute", "--git-common-dir"))
  const hash = (yield* asked("config", "--get", "extensions.objectFormat")) === "sha256"
  const shared = yield* asked("config", "--get", "core.sharedRepository")
  const tables = existsSync(join(common, "reftable"))
  const lines = [
    "[core]",
    `repositoryformatversion = ${hash || tables ? 1 : 0}`,
    "bare = true",
    ...(sharing.test(shared) ? [`sharedRepository = ${shared}`] : []),
    "[extensions]",
    ...(hash ? ["objectFormat = sha256"] : []),
    ...(tables ? ["refStorage = reftable"] : []),
  ]
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const view = mkdtempSync(join(folder, "view-"))
      for (const name of shown) if (existsSync(join(common, name))) symlinkSync(join(common, name), join(view, name))
      writeFileSync(join(view, "HEAD"), "ref: refs/heads/.invalid\n")
      writeFileSync(join(view, "config"), `${lines.join("\n")}\n`)
      if (user !== undefined) give(view, user)
      return view
    }),
    (view) => Effect.sync(() => rmSync(view, { recursive: true, force: true })),
  )
})
