// A folder that has more than five sources or tests says in a README of at most 25 lines what lives there and where a new
// thing goes: a reader finds the way by names, and by one page a folder.
import { type Check, files, isSource, read } from "./kit.ts"

const many = 5
const most = 25
/** Migrations are a list in order, and need no page. */
const isList = (folder: string): boolean => folder.endsWith("/migrations")

export const folders: Check = async (root) => {
  const all = await files(root)
  const counts = new Map<string, number>()
  for (const path of all.filter(isSource)) {
    const folder = path.slice(0, path.lastIndexOf("/"))
    if (path.includes("/") && !isList(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const faults = [...counts].flatMap(([folder, count]) => {
    const page = `${folder}/README.md`
    if (!all.includes(page))
      return count > many ? [`${page}: missing; the folder has ${count} files and says nowhere what they are`] : []
    const lines = read(root, page).trimEnd().split("\n").length
    return lines > most ? [`${page}: ${lines} lines, at most ${most}`] : []
  })
  return { looked: counts.size, unit: "folders", faults }
}
