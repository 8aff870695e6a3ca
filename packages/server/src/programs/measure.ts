/** How much folders of programs hold: measured in a box, because a program changes them meanwhile. */
import { Effect } from "effect"
import { cellArguments } from "./isolation.ts"
import { runProcess } from "./process.ts"

const seconds = 60

/** Undefined if it is not known: without a sandbox nothing is measured, and some folders take too long. */
export const measureIn = (
  bwrap: string | undefined,
  paths: ReadonlyArray<string>,
): Effect.Effect<number | undefined> => {
  if (bwrap === undefined) return Effect.succeed(undefined)
  // A program could close a folder to itself, and still write to it.
  const user = process.getuid?.() === 0 ? { uid: 0, gid: 0 } : undefined
  const cell = cellArguments({ binds: paths.map((path) => ({ path, write: false })), at: "/", user, looks: true })
  const args = [...cell, "du", "--summarize", "--block-size=1", "--one-file-system", "--", ...paths]
  return Effect.suspend(() => {
    let said = ""
    const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" }
    return Effect.map(
      runProcess({ command: bwrap, args, env, cwd: "/", graceMs: 1000, yields: true }, "", seconds, (chunk) => {
        said += chunk.toString()
      }),
      () => {
        const sizes = [...said.matchAll(/^(\d+)\t/gm)].map(([, size]) => Number(size))
        return sizes.length === paths.length ? sizes.reduce((sum, size) => sum + size, 0) : undefined
      },
    )
  })
}
