// 400 lines are the most for a source file, 700 for a test. Files that are over stand in scripts/sizes.json with their
// length: a ratchet, which may be lowered and emptied. Growth fails, of a file and of the list (against the commit before),
// and so does an entry that is no longer true.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Check, files, isSource, isTest, read, run } from "./kit.ts"

const most = (path: string) => (isTest(path) ? 700 : 400)

type Ratchet = Record<string, number>
const ratchet = "scripts/sizes.json"

/** The list as committed, and before that: in CI the change is already in HEAD. */
const before = async (root: string): Promise<ReadonlyArray<Ratchet>> => {
  const shown = await Promise.all(["HEAD", "HEAD^"].map((at) => run(root, "git", ["show", `${at}:${ratchet}`])))
  return shown.filter((out) => out.code === 0).map((out) => JSON.parse(out.stdout) as Ratchet)
}

export const sizes: Check = async (root) => {
  const allowed: Ratchet = existsSync(join(root, ratchet)) ? JSON.parse(read(root, ratchet)) : {}
  const sources = (await files(root)).filter(isSource)
  const lengths = new Map(sources.map((path) => [path, read(root, path).trimEnd().split("\n").length]))
  const grown = [...lengths].flatMap(([path, length]) => {
    const limit = allowed[path] ?? most(path)
    return length > limit ? [`${path}: ${length} lines, at most ${limit}; it wants a second file`] : []
  })
  const loosened = (await before(root)).flatMap((was) =>
    Object.entries(allowed).flatMap(([path, limit]) =>
      limit > (was[path] ?? 0)
        ? [`${ratchet}: ${path} was ${was[path] ?? "not listed"}; the list may only shrink`]
        : [],
    ),
  )
  const stale = Object.entries(allowed).flatMap(([path, was]) => {
    const length = lengths.get(path) ?? 0
    if (length <= most(path)) return [`${ratchet}: ${path} is within the limit now; remove it`]
    return length < was ? [`${ratchet}: ${path} has shrunk to ${length}; lower it from ${was}`] : []
  })
  return { looked: sources.length, unit: "files", faults: [...new Set([...grown, ...loosened, ...stale])] }
}
