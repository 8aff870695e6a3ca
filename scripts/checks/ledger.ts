// Behaviours have ids (S1-18, X-63, G-28). Each id that a test's title, a page or a comment names is one of the list in
// docs/behaviours.json, and each of the list is in a test's title, or in docs/ledger-later.md or docs/ledger-exceptions.md
// with its reason.
import { existsSync } from "node:fs"
import { join } from "node:path"
import {
  behavioursFile,
  claimsOf,
  exceptionsPage,
  idsIn,
  laterPage,
  listedOn,
  sentencesOf,
  withoutIds,
} from "../docs/behaviours.ts"
import { type Check, files, isSource, read } from "./kit.ts"

/** Table rows, list items and paragraphs: what one reason belongs to. */
const entries = (text: string): ReadonlyArray<string> => text.split(/\n(?=\s*[-*|#]|\s*\n)/)
const mayName = (path: string): boolean => (isSource(path) || path.endsWith(".md")) && !path.startsWith("test/check/")

export const ledger: Check = async (root) => {
  const sentences = sentencesOf(root)
  if (sentences === undefined)
    return { looked: 0, unit: "ids", faults: [`${behavioursFile} is missing: it lists every id there is`] }
  const known = new Set(Object.keys(sentences))
  const claims = await claimsOf(root)
  const faults: Array<string> = []
  for (const [id, sentence] of Object.entries(sentences))
    if (sentence.length < 10 || !sentence.endsWith(".")) faults.push(`${behavioursFile}: ${id} has no sentence`)
  for (const path of (await files(root)).filter(mayName))
    for (const id of new Set(idsIn(read(root, path))))
      if (!known.has(id)) faults.push(`${path}: ${id} is not in ${behavioursFile}`)
  for (const page of [laterPage, exceptionsPage]) {
    if (!existsSync(join(root, page))) continue
    for (const entry of entries(read(root, page))) {
      const ids = idsIn(entry)
      const reason = withoutIds(entry).match(/\p{L}{2,}/gu) ?? []
      if (ids.length > 0 && reason.length < 3) faults.push(`${page}: ${ids.join(" ")} has no reason`)
    }
  }
  const excused = new Set([laterPage, exceptionsPage].flatMap((page) => [...listedOn(root, page)]))
  for (const id of known)
    if (!claims.has(id) && !excused.has(id))
      faults.push(`${id}: no test has it in its title; name it in one, or say why not in ${exceptionsPage}`)
  const proven = [...known].filter((id) => claims.has(id)).length
  return { looked: known.size, unit: `ids, ${proven} named by tests`, faults }
}
