/**
 * The folder in which an agent's program works: its own in the data folder, one that its configuration names, or its
 * parent's. A subfolder is stored as root and relative path, never as a path of its own: a program that can write to
 * the root could later replace it by a link.
 */
// edge: folders
import { existsSync, lchownSync, mkdirSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import type { Agent } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../Settings.ts"
import { Folder } from "../store/Folder.ts"
import { confine, find, give, partsOf } from "./confine.ts"
import { type Bind, isInside, isOfSystem, makeIsolation, nobody, type User } from "./isolation.ts"
import type { ProgramThinker } from "./providers/Provider.ts"
import { makeWorktrees, type Shown, type Work, type Worktree } from "./worktrees.ts"

export type { Shown, Unshown, Work } from "./worktrees.ts"

/** A folder that no program can replace, and the subfolder in which the work is done. */
interface Place {
  readonly path: string
  /** What it was when it was looked at. */
  readonly id: string
  readonly owner: User
  readonly subdir: string
}

export interface Workspace extends Place {
  /** What it keeps between turns; no other agent sees it. */
  readonly home: string
  /** The folder is one that a person has named, not one that the house made for it. */
  readonly isNamed: boolean
  /** What else its program can see. */
  readonly binds: ReadonlyArray<Bind>
  /** The user of its program, if the house is root and isolates it. */
  readonly user: User | undefined
}

const words = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The branch that work is merged to by default. */
const usualBranch = "stoa"

export class Workspaces extends Context.Service<
  Workspaces,
  {
    /**
     * Creates the workspace if it is missing; the failure is a sentence. `apart`: its program is isolated from the
     * machine.
     */
    readonly open: (agent: Agent, thinker: ProgramThinker, apart: boolean) => Effect.Effect<Workspace, string>
    /**
     * The workspace of an agent's child: the same one or a part of it, or a worktree of the same repository (S3-43,
     * S3-69).
     */
    readonly under: (
      agent: Agent,
      thinker: ProgramThinker,
      inner: string | null,
    ) => Effect.Effect<Required<Pick<ProgramThinker, "workspace" | "subdir">>, string>
    /** What an agent has changed in its worktree, as it would be merged now. */
    readonly review: (agent: Agent) => Effect.Effect<Work, string>
    /** Merges exactly what was shown, and returns the commit. */
    readonly merge: (agent: Agent, shown: Shown, message: string | undefined) => Effect.Effect<string, string>
  }
>()("server/programs/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const folder = yield* Folder
      const settings = yield* Settings
      const data = realpathSync(folder.path)
      const ours = join(data, "workspaces")
      const bare = (id: string): string => id.slice(id.indexOf("_") + 1)

      const placeOf = (agent: Agent, { subdir = "", workspace }: ProgramThinker): Place => {
        const named = typeof workspace === "string" ? workspace : undefined
        const path = resolve(named ?? join(ours, bare(agent.id)))
        if (named !== undefined && !isAbsolute(named)) throw new Error("give an absolute path")
        // A part of one of our workspaces belongs to that workspace, however it is named.
        const [top, ...rest] = isInside(ours, path) ? relative(ours, path).split(sep) : [""]
        const root = rest.length > 0 ? join(ours, top!) : path
        if (named !== undefined && !existsSync(root)) throw new Error("there is no such folder")
        mkdirSync(root, { recursive: true, mode: 0o700 })
        const found = find(root)
        const real = found.path
        if (!found.isFolder) throw new Error("it is not a folder")
        // The house's own data is not a workspace; only a folder directly inside `workspaces` is.
        if (isInside(real, data) || (isInside(data, real) && join(real, "..") !== ours))
          throw new Error("it is where the house keeps its own data")
        return { path: real, id: found.id, owner: found.user, subdir: join(...rest, ...partsOf(subdir), ".") }
      }

      /**
       * A program that can write where the configuration file is, or is looked for, could declare programs that run
       * unrestricted.
       */
      const notRuling = (path: string): void => {
        const file = resolve(settings.config)
        const named = existsSync(dirname(file)) ? join(realpathSync(dirname(file)), basename(file)) : file
        if ([named, existsSync(file) ? realpathSync(file) : named].some((place) => isInside(path, place)))
          throw new Error(
            `the house's configuration file is in ${path}, where the program could change it; keep it elsewhere (STOA_CONFIG)`,
          )
      }

      /** Folders of root outside the data folder are refused; for others, their owner is the user. */
      const userOf = ({ owner: { gid, uid }, path }: Place): User => {
        if (uid !== 0) return { uid, gid: gid === 0 ? nobody.gid : gid }
        if (!isInside(data, path))
          throw new Error("it belongs to root, and programs do not run as root; give it to another user (chown)")
        give(path, nobody)
        return nobody
      }

      const isolation = makeIsolation(settings.programs)
      const homeOf = (agent: Agent, user: User | undefined): string => {
        const path = join(data, "homes", bare(agent.id))
        mkdirSync(path, { recursive: true, mode: 0o700 })
        if (user !== undefined) lchownSync(path, user.uid, user.gid)
        return path
      }

      const linksOf = ({ links = [] }: ProgramThinker): ReadonlyArray<Bind> =>
        links.map(({ path, write = false }) => {
          if (!isAbsolute(path)) throw new Error(`the link ${path} is not an absolute path`)
          if (!existsSync(path)) throw new Error(`there is nothing at the link ${path}`)
          const { id, path: real } = find(path)
          if (isInside(real, data) || isInside(data, real))
            throw new Error(`the link ${path} leads to the house's own data`)
          if (write) notRuling(real)
          return { path: real, write, id }
        })

      const worktrees = makeWorktrees(data, isolation)
      const treeOf = (agent: Agent, thinker: ProgramThinker): Worktree | undefined => {
        const { workspace } = thinker
        if (typeof workspace !== "object") return undefined
        const { id: repositoryId, path: repository, user: owner } = find(workspace.git)
        if (isInside(repository, data) || (isInside(data, repository) && !isInside(ours, dirname(repository))))
          throw new Error(`${repository} is where the house keeps its own data`)
        const id = bare(agent.id)
        const branch = workspace.branch ?? usualBranch
        return { repository, repositoryId, owner, branch, id, path: join(ours, id), links: linksOf(thinker) }
      }
      const treeFor = (agent: Agent) =>
        Effect.flatMap(
          Effect.try({
            try: () => (agent.thinker.kind === "program" ? treeOf(agent, agent.thinker) : undefined),
            catch: words,
          }),
          (tree) =>
            tree === undefined
              ? Effect.fail(`${agent.name} has no worktree: its workspace is not a git repository`)
              : Effect.succeed(tree),
        )

      /** The worktree is made before the first turn. */
      const ready = (agent: Agent, thinker: ProgramThinker, apart: boolean): Effect.Effect<unknown, string> =>
        typeof thinker.workspace === "object"
          ? Effect.flatMap(treeFor(agent), (tree) =>
              Effect.mapError(
                worktrees.open(tree, apart && process.getuid?.() === 0 ? nobody : undefined),
                ({ message }) => message,
              ),
            )
          : Effect.void

      /** The files that a command names are visible to it, unless a link leads elsewhere. */
      const namedBy = ({ command = [] }: ProgramThinker): ReadonlyArray<Bind> =>
        command.flatMap((word) => {
          if (!isAbsolute(word) || isOfSystem(word) || statSync(word, { throwIfNoEntry: false })?.isFile() !== true)
            return []
          const { id, path } = find(word)
          return path === word && !isInside(data, word) ? [{ path, write: false, id }] : []
        })

      return Workspaces.of({
        review: (agent) => Effect.flatMap(treeFor(agent), (tree) => worktrees.review(tree, agent.name)),
        merge: (agent, shown, message) =>
          Effect.flatMap(treeFor(agent), (tree) => worktrees.merge(tree, shown, message, agent.name)),
        open: (agent, thinker, apart) =>
          Effect.andThen(
            Effect.mapError(ready(agent, thinker, apart), (why) => `Its worktree could not be made: ${why}.`),
            Effect.try({
              try: () => {
                const place = placeOf(agent, thinker)
                if (apart) notRuling(place.path)
                const user = apart && process.getuid?.() === 0 ? userOf(place) : undefined
                confine(place.path, place.subdir, user, place.id)
                const isNamed = !isInside(ours, place.path)
                return {
                  ...place,
                  isNamed,
                  home: homeOf(agent, user),
                  binds: [...namedBy(thinker), ...linksOf(thinker)],
                  user,
                }
              },
              catch: (cause) =>
                `The workspace ${typeof thinker.workspace === "string" ? thinker.workspace : "of its own"} cannot be used: ${words(cause)}.`,
            }),
          ),
        under: (agent, thinker, inner) =>
          Effect.try({
            try: () => {
              // A child's worktree is made when the child starts, and its subfolder too.
              if (typeof thinker.workspace === "object")
                return { workspace: thinker.workspace, subdir: join(...partsOf(inner ?? ""), ".") }
              const { id, owner, path, subdir } = placeOf(agent, thinker)
              const place = { path, subdir: join(subdir, ...partsOf(inner ?? "")) }
              confine(path, place.subdir, process.getuid?.() === 0 ? owner : undefined, id)
              return { workspace: place.path, subdir: place.subdir }
            },
            catch: words,
          }),
      })
    }),
  )
}
