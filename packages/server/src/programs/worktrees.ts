/**
 * A worktree of a repository for each agent: a clone in its workspace, which its program may change freely. The result
 * of the work is read from the files alone, by a bare repository of the house beside it. It goes to one branch of the
 * repository that nobody has checked out; nothing else in the repository changes.
 */
// edge: folders
import { createHash } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Effect } from "effect"
import { readChanges, type UnshownFile } from "./changes.ts"
import { find, give } from "./confine.ts"
import { type Git, GitFailure, type GitOptions, makeGit, viewOf } from "./git.ts"
import type { Bind, Isolation, User } from "./isolation.ts"

export interface Worktree {
  readonly repository: string
  /** As of a `Bind`, and whoever it belongs to. */
  readonly repositoryId: string
  readonly owner: User
  /** The branch that work is merged to. */
  readonly branch: string
  /** The agent's id, as a part of a file name. */
  readonly id: string
  /** Its workspace. */
  readonly path: string
  /** What else of the machine its program sees, and git with it: where a repository's objects may be. */
  readonly links: ReadonlyArray<Bind>
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
/** The list of the files of a repository. */
const maxListing = 64 * 1024 * 1024
/** What has changed, compressed. */
const maxPack = 64 * 1024 * 1024
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
  listed
    .split("\0")
    .flatMap((entry) =>
      entry.startsWith("160000 ") ? [Buffer.from(entry.slice(entry.indexOf("\t") + 1), "latin1").toString()] : [],
    )

/** The contents in a list of `ls-tree` or `ls-files`: of files and links. */
const objectsIn = (listed: string): ReadonlySet<string> =>
  new Set(
    listed
      .split("\0")
      .flatMap((entry) => /^1[02]0\d{3} (?:blob )?([0-9a-f]+) /.exec(entry.replace("\t", " "))?.[1] ?? []),
  )

/** `isolation`: how programs are kept apart; the house's git works on their files in the same way. */
export const makeWorktrees = (data: string, isolation: Isolation) => {
  const folder = join(data, "gits")
  const git: Git = makeGit(folder, isolation)
  const words = <A>(effect: Effect.Effect<A, GitFailure>) => Effect.mapError(effect, ({ message }) => message)
  const attempt = <A>(act: () => A) =>
    Effect.try({ try: act, catch: (cause) => new GitFailure(null, "", String(cause)) })

  const bareOf = ({ id }: Worktree): string => join(folder, `${id}.git`)
  const first = (text: string): string => text.trim().split("\n")[0] ?? ""
  /** Whom git runs as, if the house can become them. */
  const as = (owner: User): User | undefined =>
    process.getuid?.() === 0 && isolation()?.kind === "bubblewrap" ? owner : undefined

  /** The repository, and the house's own beside it: seen by git as whoever the repository belongs to. */
  const near = ({ links, owner, repository, repositoryId }: Worktree, more: ReadonlyArray<Bind> = []) => ({
    sees: [
      ...links.map((link) => ({ ...link, write: false })),
      { path: repository, write: false, id: repositoryId },
      ...more,
    ],
    user: as(owner),
  })
  const bareGit = (tree: Worktree, args: ReadonlyArray<string>, more: Partial<GitOptions> = {}) => {
    const bare = bareOf(tree)
    return git(["--git-dir", bare, ...args], { ...near(tree, [{ path: bare, write: true }]), ...more })
  }
  const inBare = (tree: Worktree, ...args: ReadonlyArray<string>) => bareGit(tree, args)
  const inRepository = (tree: Worktree, ...args: ReadonlyArray<string>) =>
    git(["-C", tree.repository, ...args], near(tree))

  /** Runs with a view of the repository without its own settings. */
  const viewing = <A>(
    tree: Worktree,
    use: (
      inView: (...args: ReadonlyArray<string>) => Effect.Effect<string, GitFailure>,
    ) => Effect.Effect<A, GitFailure>,
    write = false,
  ) =>
    Effect.scoped(
      Effect.flatMap(
        viewOf((...args) => inRepository(tree, ...args), folder, as(tree.owner)),
        (view) => {
          const bare = bareOf(tree)
          const more = [
            ...(write ? [{ path: tree.repository, write, id: tree.repositoryId }] : []),
            ...(existsSync(bare) ? [{ path: bare, write: false }] : []),
            { path: view, write: true },
          ]
          return use((...args) => git(["--git-dir", view, ...args], near(tree, more)))
        },
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
    existsSync(bareOf(tree)) && existsSync(tree.path)
      ? Effect.match(inBare(tree, "rev-parse", "--verify", "--quiet", "refs/stoa/base"), {
          onFailure: () => false,
          onSuccess: () => true,
        })
      : Effect.succeed(false)

  /** An empty folder of ours for a while. */
  const temporary = (prefix: string, user: User | undefined) =>
    Effect.acquireRelease(
      attempt(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        const path = mkdtempSync(join(folder, prefix))
        if (user !== undefined) give(path, user)
        return path
      }),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
    )

  /** Nothing that a program may have used is removed, and nobody walks through it: it is put aside. */
  const putAside = (path: string): void => {
    if (!existsSync(path)) return
    let n = 1
    while (existsSync(`${path}.old${n}`)) n++
    renameSync(path, `${path}.old${n}`)
  }

  /** Made once, where no program can reach it, and then put in its place. */
  const open = Effect.fnUntraced(function* (tree: Worktree, given: User | undefined) {
    if (yield* isReady(tree)) return false
    const bare = bareOf(tree)
    const owner = as(tree.owner)
    yield* attempt(() => {
      rmSync(bare, { recursive: true, force: true })
      putAside(tree.path)
      mkdirSync(bare, { recursive: true, mode: 0o700 })
      if (owner !== undefined) give(bare, owner)
    })
    const tip = yield* tipOf(tree)
    const objects = yield* inRepository(tree, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    yield* inBare(tree, "init", "--quiet", "--bare", "--template=")
    yield* attempt(() => {
      mkdirSync(join(bare, "objects", "info"), { recursive: true })
      writeFileSync(join(bare, "objects", "info", "alternates"), `${first(objects)}\n`)
      if (owner !== undefined) give(bare, owner)
    })
    const made = yield* temporary("new-", owner)
    const inMade = (...args: ReadonlyArray<string>) => git(args, near(tree, [{ path: made, write: true }]))
    const copy = join(made, "tree")
    yield* inMade("clone", "--quiet", "--no-hardlinks", "--template=", "--no-checkout", tree.repository, copy)
    yield* inMade("-C", copy, "checkout", "--quiet", "-B", `work-${tree.id}`, tip)
    yield* inMade("-C", copy, "remote", "remove", "origin")
    yield* inBare(tree, "update-ref", "refs/stoa/base", tip)
    yield* attempt(() => {
      chmodSync(copy, 0o700)
      if (given !== undefined) give(copy, given)
      mkdirSync(dirname(tree.path), { recursive: true, mode: 0o700 })
      renameSync(copy, tree.path)
    })
    return true
  }, Effect.scoped)

  /** What git lists, with every byte of a name as a character. */
  const listing = (run: (more: Partial<GitOptions>) => Effect.Effect<string, GitFailure>) =>
    Effect.suspend(() => {
      const pieces: Array<Buffer> = []
      const take = (chunk: Buffer) => void pieces.push(chunk)
      return Effect.map(run({ take, most: maxListing }), () => Buffer.concat(pieces).toString("latin1"))
    })

  /**
   * The files of the workspace as a commit, without its own `.git`. A program may change them meanwhile: they are read
   * once, in a box that shows nothing that the program does not see, and only contents and their list come out of it.
   */
  const snapshot = Effect.fnUntraced(function* (tree: Worktree, by: string) {
    const base = first(yield* inBare(tree, "rev-parse", "refs/stoa/base"))
    const before = yield* listing((more) => bareGit(tree, ["ls-tree", "-r", "-z", base], more))
    const worktree = find(tree.path)
    const user = as(worktree.user)
    const scratch = yield* temporary("read-", user)
    const sees = [
      { path: tree.path, write: false, id: worktree.id },
      { path: scratch, write: true },
    ]
    const inBox = (args: ReadonlyArray<string>, more: Partial<GitOptions> = {}) =>
      git(["--git-dir", scratch, "--work-tree", tree.path, "-c", "core.bare=false", ...args], {
        sees,
        user,
        cwd: tree.path,
        // What has not changed is not stored again. Whatever a program made of its objects: contents are checked by their ids.
        env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(tree.path, ".git", "objects") },
        ...more,
      })
    yield* git(["init", "--quiet", "--bare", "--template=", scratch], { sees, user })
    yield* inBox(["update-index", "-z", "--index-info"], { stdin: Buffer.from(before, "latin1") })
    // Submodules are not part of the work: git would use their own settings, which a program may have written.
    const inner = submodulesIn(before).map((path) => `:(exclude,literal)${path}`)
    // Neither are ignored files.
    yield* inBox(["add", "--all", "--", ".", ...inner])
    const after = yield* listing((more) => inBox(["ls-files", "--stage", "-z"], more))
    const known = objectsIn(before)
    const wanted = [...objectsIn(after)].filter((object) => !known.has(object))
    const pieces: Array<Buffer> = []
    if (wanted.length > 0) {
      const take = (chunk: Buffer) => void pieces.push(chunk)
      const stdin = `${wanted.join("\n")}\n`
      yield* inBox(["pack-objects", "--quiet", "--stdout", "--window=0"], { stdin, take, most: maxPack })
      yield* bareGit(tree, ["unpack-objects", "-q", "--strict"], { stdin: Buffer.concat(pieces) })
    }
    const index = yield* temporary("index-", as(tree.owner))
    const atIndex = {
      ...near(tree, [
        { path: bareOf(tree), write: true },
        { path: index, write: true },
      ]),
      env: { GIT_INDEX_FILE: join(index, "index") },
    }
    yield* bareGit(tree, ["update-index", "-z", "--index-info"], { ...atIndex, stdin: Buffer.from(after, "latin1") })
    const made = first(yield* bareGit(tree, ["write-tree"], atIndex))
    if (made === first(yield* inBare(tree, "rev-parse", `${base}^{tree}`))) return { base, commit: base }
    const env = { GIT_AUTHOR_NAME: by, GIT_COMMITTER_NAME: "stoa" }
    const commit = first(yield* bareGit(tree, ["commit-tree", made, "-p", base, "-m", `Work of ${by}`], { env }))
    yield* inBare(tree, "update-ref", `refs/stoa/work/${commit}`, commit)
    return { base, commit }
  }, Effect.scoped)

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
    yield* bareGit(tree, ["cat-file", "blob", object], { take, most: maxHashed })
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
        yield* viewing(
          tree,
          (inView) =>
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
          true,
        )
        yield* inBare(tree, "update-ref", "refs/stoa/base", commit)
        return made
      }),
    )
  })

  return { open, review, merge }
}
