/**
 * The folder an agent's program works in: its own, in the data folder, or one that its configuration names, or a part of its
 * parent's. Whatever is named stays inside by its real path, so that no link leads out.
 */
// edge: folders
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs"
import { isAbsolute, join, relative, sep } from "node:path"
import type { Agent } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Folder } from "../store/Folder.ts"
import type { Bind } from "./isolation.ts"
import type { ProgramThinker } from "./providers/Provider.ts"

export interface Workspace {
  /** Its real path. */
  readonly path: string
  /** What else its program sees. */
  readonly binds: ReadonlyArray<Bind>
}

const words = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const isInside = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === "" || (!way.startsWith("..") && !isAbsolute(way))
}

/** A folder below another, made where it is not there. Every part on the way is looked at before the next one is made. */
export const confine = (outer: string, inner: string): string => {
  if (isAbsolute(inner)) throw new Error(`"${inner}" is absolute; give a path inside of the workspace`)
  const parts = inner.split(/[/\\]/).filter((part) => part !== "" && part !== ".")
  if (parts.includes("..") || inner.includes("\0")) throw new Error(`"${inner}" leads out of the workspace`)
  let at = outer
  for (const part of parts) {
    const next = join(at, part)
    if (!existsSync(next)) mkdirSync(next, { mode: 0o700 })
    const real = realpathSync(next)
    if (!isInside(outer, real)) throw new Error(`"${inner}" leads out of the workspace`)
    at = real
  }
  if (!statSync(at).isDirectory()) throw new Error(`"${inner}" is no folder`)
  return at
}

export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** Made where it is not there; a sentence, where it cannot be. */
    readonly open: (agent: Agent, thinker: ProgramThinker) => Effect.Effect<Workspace, string>
    /** A part of an agent's workspace, or all of it (S3-43, S3-69): its real path. */
    readonly under: (agent: Agent, thinker: ProgramThinker, inner: string | null) => Effect.Effect<string, string>
  }
>()("server/programs/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const folder = yield* Folder
      const own = join(folder.path, "workspaces")
      const bare = (id: string): string => id.slice(id.indexOf("_") + 1)

      const pathOf = (agent: Agent, { workspace }: ProgramThinker): string => {
        const path = workspace ?? join(own, bare(agent.id))
        if (workspace !== undefined && !isAbsolute(workspace)) throw new Error("give an absolute path")
        if (workspace !== undefined && !existsSync(workspace)) throw new Error("there is no such folder")
        mkdirSync(path, { recursive: true, mode: 0o700 })
        if (!statSync(path).isDirectory()) throw new Error("it is no folder")
        const real = realpathSync(path)
        const data = realpathSync(folder.path)
        // The house's keys and rows are no workspace; the folder for workspaces in it is.
        if (isInside(real, data) || (isInside(data, real) && !real.startsWith(join(data, "workspaces") + sep)))
          throw new Error("it is where the house keeps its own data")
        return real
      }

      return Workspaces.of({
        open: (agent, thinker) =>
          Effect.try({
            try: () => ({ path: pathOf(agent, thinker), binds: [] }),
            catch: (cause) => `The workspace ${thinker.workspace ?? "of its own"} cannot be used: ${words(cause)}.`,
          }),
        under: (agent, thinker, inner) =>
          Effect.try({
            try: () => {
              const outer = pathOf(agent, thinker)
              return inner === null || inner === "" ? outer : confine(outer, inner)
            },
            catch: words,
          }),
      })
    }),
  )
}
