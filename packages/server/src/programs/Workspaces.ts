/**
 * The folder an agent's program works in: its own, in the data folder, or one that its configuration names, or its parent's.
 * A part of it is kept as a part, never as a path of its own: whoever writes to the whole could put a link there later.
 */
// edge: folders
import { existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import type { Agent } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Folder } from "../store/Folder.ts"
import { confine, partsOf } from "./inside.ts"
import { type Bind, isInside, nobody, type User } from "./isolation.ts"
import type { ProgramThinker } from "./providers/Provider.ts"

/** A folder that no program can replace, and where in it the work is done. */
export interface Place {
  readonly path: string
  readonly subdir: string
}

export interface Workspace extends Place {
  /** What else its program sees. */
  readonly binds: ReadonlyArray<Bind>
  /** Whom its program runs as, where the house is root and keeps it apart. */
  readonly user: User | undefined
}

const words = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** What a program that ran as root has left is its own. No link is followed. */
const give = (path: string, { gid, uid }: User): void => {
  lchownSync(path, uid, gid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) give(join(path, name), { gid, uid })
}

export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** Made where it is not there; a sentence, where it cannot be. `apart`: its program is kept apart from the machine. */
    readonly open: (agent: Agent, thinker: ProgramThinker, apart: boolean) => Effect.Effect<Workspace, string>
    /** A part of an agent's workspace, or all of it (S3-43, S3-69). */
    readonly under: (agent: Agent, thinker: ProgramThinker, inner: string | null) => Effect.Effect<Place, string>
  }
>()("server/programs/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const folder = yield* Folder
      const data = realpathSync(folder.path)
      const ours = join(data, "workspaces")
      const bare = (id: string): string => id.slice(id.indexOf("_") + 1)

      const placeOf = (agent: Agent, { subdir = "", workspace }: ProgramThinker): Place => {
        const path = resolve(workspace ?? join(ours, bare(agent.id)))
        if (workspace !== undefined && !isAbsolute(workspace)) throw new Error("give an absolute path")
        // A part of a workspace of ours is one of that workspace, however it is named.
        const [top, ...rest] = isInside(ours, path) ? relative(ours, path).split(sep) : [""]
        const root = rest.length > 0 ? join(ours, top!) : path
        if (workspace !== undefined && !existsSync(root)) throw new Error("there is no such folder")
        mkdirSync(root, { recursive: true, mode: 0o700 })
        if (!statSync(root).isDirectory()) throw new Error("it is no folder")
        const real = realpathSync(root)
        // The house's keys and rows are no workspace; a folder in the one for workspaces is.
        if (isInside(real, data) || (isInside(data, real) && join(real, "..") !== ours))
          throw new Error("it is where the house keeps its own data")
        return { path: real, subdir: join(...rest, ...partsOf(subdir), ".") }
      }

      /** Root's own folders are given to nobody; others say by their owner who works in them. */
      const userOf = (path: string): User => {
        const { gid, uid } = statSync(path)
        if (uid !== 0) return { uid, gid: gid === 0 ? nobody.gid : gid }
        if (!isInside(data, path))
          throw new Error("it belongs to root, as whom no program runs; give it to a user (chown)")
        give(path, nobody)
        return nobody
      }

      return Workspaces.of({
        open: (agent, thinker, apart) =>
          Effect.try({
            try: () => {
              const place = placeOf(agent, thinker)
              const user = apart && process.getuid?.() === 0 ? userOf(place.path) : undefined
              confine(place.path, place.subdir, user)
              return { ...place, binds: [], user }
            },
            catch: (cause) => `The workspace ${thinker.workspace ?? "of its own"} cannot be used: ${words(cause)}.`,
          }),
        under: (agent, thinker, inner) =>
          Effect.try({
            try: () => {
              const { path, subdir } = placeOf(agent, thinker)
              const { uid, gid } = statSync(path)
              const place = { path, subdir: join(subdir, ...partsOf(inner ?? "")) }
              confine(path, place.subdir, process.getuid?.() === 0 ? { uid, gid } : undefined)
              return place
            },
            catch: words,
          }),
      })
    }),
  )
}
