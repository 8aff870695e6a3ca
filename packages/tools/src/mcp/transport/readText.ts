/** A small text file, whole. */
// edge: the file system is promises
import { readFile, stat } from "node:fs/promises"
import { Effect } from "effect"

const most = 1024 * 1024

export const readText = (path: string): Effect.Effect<string, string> =>
  Effect.tryPromise({
    try: async () => {
      const { size } = await stat(path)
      if (size > most) throw new Error(`it has ${size} bytes, ${most} are the most`)
      return await readFile(path, "utf8")
    },
    catch: (error) => (error instanceof Error ? error.message : String(error)),
  })
