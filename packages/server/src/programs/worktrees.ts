/**
 * A worktree of a repository for each agent: a clone in its workspace, which its program may change freely. The result
 * of the work is read from the files alone, by a bare repository of the house beside it. It goes to one branch of the
 * repository that nobody has checked out; nothing else in the repository changes.
 */
// edge: folders
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Effect } from "effect"
import { readChanges, type UnshownFile } from "./changes.ts"
import { type Git, GitFailure, makeGit, viewOf } from "./git.ts"

export interface Worktree {
  readonly repository: string
  /** The branch that work is merged to. */
  readonly branch: string
  /** The agent's id, as a part of a file name. */
  readonly id: string
  /** Its workspace. */
  readonly path: string
}

/** A changed file that cannot be shown as text, as it would be merged; one that is removed has no digest. */
export interface Unshown {
  readonly path: string
  readonly size: number
  readonly sha256: string | null
}

/** What a person was shown of the work. */
export type Shown = Pick<Work, "commit" | "diff" | "unshown">

/** What an agent changed, as it would be merged now. */
export interface Work {
  readonly commit: string
  readonly files: ReadonlyArray<string>
  /** The changes to the branch that can be shown as text; empty if there are conflicts. */
  readonly diff: string
  /** The changed files that cannot. */
  readonly unshown: ReadonlyArray<Unshown>
  /** The paths that conflict with what others have merged. */
  readonly conflicts: ReadonlyArray<string>
}

/** Limited, because a person must read it. */
const maxDiff = 200_000
const maxUnshown = 100
/** The content of one file that is not shown: read for its digest only. */
const maxHashed = 1024 ** 3

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

/** Whatever a file's attributes say of it, and with every content named by its whole id. */
const asText = [
  ..."--raw --patch --text --full-index".split(" "),
  ..."--no-ext-diff --no-textconv --no-color --no-renames --ignore-submodules=none --submodule=short".split(" "),
  ..."--src-prefix=a/ --dst-prefix=b/ --unified=3 --inter-hunk-context=0 --diff-algorithm=myers".split(" "),
]

/** The submodules in a listed tree: paths that are commits of other repositories. */
const submodulesIn = (listed: string): ReadonlyArray<string> =>
  listed.split("\0").flatMap((entry) => (entry.startsWith("160000 ") ? [entry.slice(entry.indexOf("\t") + 1)] : []))

export const makeWorktrees = (data: string) => {
  const folder = join(data, "gits")
  const git: Git = makeGit(folder)
  const words = <A>(effect: Effect.Effect<A, GitFailure>) => Effect.mapError(effect, ({ message }) => message)

  const bareOf = ({ id }: Worktree): string => join(folder, `${id}.git`)
  const inBare = (tree: Worktree, ...args: ReadonlyArray<string>) => git(["--git-dir", bareOf(tree), ...args])
  const inRepository = ({ repository }: Worktree, ...args: ReadonlyArray<string>) => git(["-C", repository, ...args])
  const first = (text: string): string => text.trim().split("\n")[0] ?? ""

  /** Runs with a view of the repository without its own settings. */
  const viewing = <A>(
    tree: Worktree,
    use: (
      inView: (...args: ReadonlyArray<string>) => Effect.Effect<string, GitFailure>,
    ) => Effect.Effect<A, GitFailure>,
  ) =>
    Effect.scoped(
      Effect.flatMap(viewOf(git, folder, tree.repository), (view) =>
        use((...args) => git(["--git-dir", view, ...args])),
      ),
    )

  /** The tip of the branch, or the repository's HEAD if there is no such branch. */
  const tipOf = (tree: Worktree) =>
    viewing(tree, (inView) =>
      Effect.map(
        Effect.catch(inView("rev-parse", "--verify", "--quiet", `refs/heads/${tree.branch}^{commit}`), () =>
          Effect.flatMap(inRepository(tree, "rev-parse", "--verify", "HEAD"), (head) =>
            inView("rev-parse", "--verify", `${first(head)}^{commit}`),
          ),
        ),
        first,
      ),
    )

  const isReady = (tree: Worktree) =>
    existsSync(bareOf(tree))
      ? Effect.match(inBare(tree, "rev-parse", "--verify", "--quiet", "refs/stoa/base"), {
          onFailure: () => false,
          onSuccess: () => true,
        })
      : Effect.succeed(false)

  /** Made once. What a killed house left unfinished is made again: no program has used it. */
  const open = Effect.fnUntraced(function* (tree: Worktree) {
    if (yield* isReady(tree)) return false
    const bare = bareOf(tree)
    for (const path of [bare, tree.path]) rmSync(path, { recursive: true, force: true })
    mkdirSync(tree.path, { recursive: true, mode: 0o700 })
    const tip = yield* tipOf(tree)
    const objects = yield* inRepository(tree, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    yield* git(["init", "--quiet", "--bare", "--template=", bare])
    mkdirSync(join(bare, "objects", "info"), { recursive: true })
    writeFileSync(join(bare, "objects", "info", "alternates"), `${first(objects)}\n`)
    yield* git(["clone", "--quiet", "--no-hardlinks", "--template=", "--no-checkout", tree.repository, tree.path])
    yield* git(["-C", tree.path, "checkout", "--quiet", "-B", `work-${tree.id}`, tip])
    yield* git(["-C", tree.path, "remote", "remove", "origin"])
    yield* inBare(tree, "update-ref", "refs/stoa/base", tip)
    return true
  })

  /** The files of the workspace as a commit, without its own `.git`. */
  const snapshot = Effect.fnUntraced(function* (tree: Worktree, by: string) {
    const base = first(yield* inBare(tree, "rev-parse", "refs/stoa/base"))
    const inTree = (...args: ReadonlyArray<string>) =>
      git(["--git-dir", bareOf(tree), "--work-tree", tree.path, "-c", "core.bare=false", ...args], { cwd: tree.path })
    yield* inTree("read-tree", base)
    // Submodules are not part of the work: git would use their own settings, which a program may have written.
    const inner = submodulesIn(yield* inBare(tree, "ls-tree", "-r", "-d", "-z", base))
    // Neither are ignored files.
    yield* inTree("add", "--all", "--", ".", ...inner.map((path) => `:(exclude,literal)${path}`))
    const made = first(yield* inTree("write-tree"))
    const before = first(yield* inBare(tree, "rev-parse", `${base}^{tree}`))
    if (made === before) return { base, commit: base }
    const named = { GIT_AUTHOR_NAME: by, GIT_COMMITTER_NAME: "stoa" }
    const commit = first(
      yield* git(["--git-dir", bareOf(tree), "commit-tree", made, "-p", base, "-m", `Work of ${by}`], { env: named }),
    )
    yield* inBare(tree, "update-ref", `refs/stoa/work/${commit}`, commit)
    return { base, commit }
  })

  const merged = Effect.fnUntraced(function* (tree: Worktree, commit: string) {
    const tip = yield* tipOf(tree)
    return yield* Effect.match(
      inBare(tree, "merge-tree", "--write-tree", "--name-only", "--no-messages", tip, commit),
      {
        onSuccess: (said) => ({ tip, tree: first(said), conflicts: [] as ReadonlyArray<string> }),
        onFailure: ({ code, message, said }) => ({
          tip,
          tree: undefined,
          conflicts: code === 1 ? lines(said).slice(1) : [message],
        }),
      },
    )
  })

  const digestOf = Effect.fnUntraced(function* (tree: Worktree, { object, path }: UnshownFile) {
    if (object === null) return { path, size: 0, sha256: null } satisfies Unshown
    const hash = createHash("sha256")
    let size = 0
    const take = (chunk: Buffer): void => {
      hash.update(chunk)
      size += chunk.length
    }
    yield* git(["--git-dir", bareOf(tree), "cat-file", "blob", object], { take, most: maxHashed })
    return { path, size, sha256: hash.digest("hex") } satisfies Unshown
  })

  const workOf = Effect.fnUntraced(function* (tree: Worktree, commit: string) {
    const { conflicts, tip, tree: result } = yield* merged(tree, commit)
    const none = { commit, files: [], diff: "", unshown: [], conflicts } satisfies Work
    if (result === undefined) return { tip, result, work: none }
    const changes = readChanges(yield* inBare(tree, "diff", ...asText, tip, result))
    if (changes === undefined)
      return yield* Effect.fail(new GitFailure(null, "", "git shows the changes in a form of its own"))
    const { diff, files, unshown } = changes
    if (diff.length > maxDiff || unshown.length > maxUnshown)
      return yield* Effect.fail(
        new GitFailure(
          null,
          "",
          `more than ${maxDiff} characters, or ${maxUnshown} files that are no text, have changed: too much to review; merge it in smaller parts`,
        ),
      )
    const digests = yield* Effect.forEach(unshown, (file) => digestOf(tree, file))
    return { tip, result, work: { commit, files, diff, unshown: digests, conflicts } satisfies Work }
  })

  const review = (tree: Worktree, by: string) =>
    words(
      Effect.gen(function* () {
        const { commit } = yield* snapshot(tree, by)
        return (yield* workOf(tree, commit)).work
      }),
    )

  const isCheckedOut = (tree: Worktree) =>
    Effect.map(inRepository(tree, "worktree", "list", "--porcelain"), (said) =>
      lines(said).includes(`branch refs/heads/${tree.branch}`),
    )

  /** Merges exactly what was shown: if the branch has moved since, it must be reviewed again. */
  const merge = Effect.fnUntraced(function* (
    tree: Worktree,
    { commit, diff, unshown }: Shown,
    message: string | undefined,
    by: string,
  ) {
    if (!/^[0-9a-f]{40,64}$/.test(commit)) return yield* Effect.fail("there is no such commit")
    if (yield* words(isCheckedOut(tree)))
      return yield* Effect.fail(
        `the branch ${tree.branch} is checked out in ${tree.repository}; check out another one there`,
      )
    const { result, tip, work } = yield* words(workOf(tree, commit))
    if (result === undefined) return yield* Effect.fail(`it has conflicts in ${work.conflicts.join(", ")}`)
    if (work.diff !== diff || !isDeepStrictEqual(work.unshown, unshown))
      return yield* Effect.fail("its work has changed since it was shown; look at it again")
    return yield* words(
      Effect.gen(function* () {
        const parents = [tip, commit].flatMap((id) => ["-p", id])
        const made = first(
          yield* inBare(tree, "commit-tree", result, ...parents, "-m", message ?? `Merge the work of ${by}`),
        )
        yield* inBare(tree, "update-ref", `refs/stoa/work/${made}`, made)
        yield* viewing(tree, (inView) =>
          Effect.gen(function* () {
            const work = `refs/stoa/work/${made}`
            yield* inView("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", bareOf(tree), work)
            const branch = `refs/heads/${tree.branch}`
            const isThere = yield* Effect.match(inView("rev-parse", "--verify", "--quiet", branch), {
              onFailure: () => false,
              onSuccess: () => true,
            })
            // Only if the branch has not moved, so that nobody loses work.
            yield* inView("update-ref", branch, made, isThere ? tip : "0".repeat(tip.length))
          }),
        )
        yield* inBare(tree, "update-ref", "refs/stoa/base", commit)
        return made
      }),
    )
  })

  return { open, review, merge }
}
