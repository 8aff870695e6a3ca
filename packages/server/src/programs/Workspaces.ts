/** The folder an agent's program works in: its own, in the data folder, or one that its configuration names. */
// edge: folders
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs"
import { isAbsolute, join } from "node:path"
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

export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** Made where it is not there; a sentence, where it cannot be. */
    readonly open: (agent: Agent, thinker: ProgramThinker) => Effect.Effect<Workspace, string>
  }
>()("server/programs/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const folder = yield* Folder
      const bare = (id: string): string => id.slice(id.indexOf("_") + 1)
      return Workspaces.of({
        open: (agent, { workspace }) =>
          Effect.try({
            try: () => {
              const path = workspace ?? join(folder.path, "workspaces", bare(agent.id))
              if (workspace !== undefined && (!isAbsolute(workspace) || !existsSync(workspace)))
                throw new Error("give the absolute path of a folder that is there")
              mkdirSync(path, { recursive: true, mode: 0o700 })
              if (!statSync(path).isDirectory()) throw new Error("it is no folder")
              return { path: realpathSync(path), binds: [] }
            },
            catch: (cause) =>
              `The workspace ${workspace ?? "of its own"} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`,
          }),
      })
    }),
  )
}
