// A folder that has more than five files says in a README of at most 25 lines what lives there, what it may use, what it
// never does, and where a new thing goes: a reader finds the way by names, and by one page a folder.
import { type Check, files, read } from "./kit.ts"

const many = 5
const most = 25
const demanded = ["May use", "Never", "A new thing"]

/** Folders that need no page, by the end of their path, each with its reason. */
const excepted: ReadonlyArray<readonly [end: string, reason: string]> = [
  ["/migrations", "a list in order, whose rule is said once for all rooms in AGENTS.md"],
  ["/__snapshots__", "written by the tests beside it"],
]
const isExcepted = (folder: string): boolean => excepted.some(([end]) => folder.endsWith(end))

/** A folder of a few files may have a page too: it must be short, and may be of any form. */
const faultsOf = (page: string, text: string, count: number): ReadonlyArray<string> => {
  const lines = text.trimEnd().split("\n").length
  const missing = count > many ? demanded.filter((word) => !text.includes(`**${word}**`)) : []
  return [
    ...(lines > most ? [`${page}: ${lines} lines, at most ${most}`] : []),
    ...missing.map((word) => `${page}: says nothing under **${word}**`),
  ]
}

export const folders: Check = async (root) => {
  const all = await files(root)
  const counts = new Map<string, number>()
  // The root has no such page: README.md there is for everybody, and AGENTS.md says where a new thing goes.
  for (const path of all.filter((one) => one.includes("/"))) {
    const folder = path.slice(0, path.lastIndexOf("/"))
    if (!isExcepted(folder)) counts.set(folder, (counts.get(folder) ?? 0) + (path === `${folder}/README.md` ? 0 : 1))
  }
  const faults = [...counts].flatMap(([folder, count]) => {
    const page = `${folder}/README.md`
    if (all.includes(page)) return faultsOf(page, read(root, page), count)
    return count > many ? [`${page}: missing; the folder has ${count} files and says nowhere what they are`] : []
  })
  return { looked: counts.size, unit: "folders", faults }
}
