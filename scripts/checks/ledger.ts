// Behaviours we do not have stand in docs/ledger-later.md or docs/ledger-exceptions.md, each with its reason. The ledger
// itself lives beside the checkout; a clone without it cannot know the ids, and skips.
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Check, read } from "./kit.ts"

const id = /\bS\d-\d{2,3}(?:\.\.(?:S\d-)?\d{2,3})?/g
const pages = ["docs/ledger-later.md", "docs/ledger-exceptions.md"]

/** Table rows, list items and paragraphs: what one reason belongs to. */
const entries = (text: string): ReadonlyArray<string> => text.split(/\n(?=\s*[-*|#]|\s*\n)/)

const expand = (range: string): ReadonlyArray<string> => {
  const [, system, first, last] = /^(S\d)-(\d+)(?:\.\.(?:S\d-)?(\d+))?$/.exec(range) ?? []
  const from = Number(first)
  return Array.from(
    { length: Number(last ?? first) - from + 1 },
    (_, n) => `${system}-${String(from + n).padStart(2, "0")}`,
  )
}

export const ledger: Check = async (root) => {
  const file = resolve(root, "../shared/spec/ledger.md")
  if (!existsSync(file)) return { looked: 0, unit: "ids", faults: [], skipped: "no ../shared" }
  const known = new Set([...readFileSync(file, "utf8").matchAll(/^- (S\d-\d+)\b/gm)].map(([, it]) => it))
  const faults: Array<string> = []
  let looked = 0
  for (const page of pages) {
    if (!existsSync(join(root, page))) continue
    for (const entry of entries(read(root, page))) {
      const ids = entry.match(id) ?? []
      const named = ids.flatMap(expand)
      looked += named.length
      faults.push(...named.filter((it) => !known.has(it)).map((it) => `${page}: ${it} is not in the ledger`))
      const reason = entry.replace(id, "").match(/\p{L}{2,}/gu) ?? []
      if (ids.length > 0 && reason.length < 3) faults.push(`${page}: ${ids.join(" ")} has no reason`)
    }
  }
  return { looked, unit: "ids", faults }
}
