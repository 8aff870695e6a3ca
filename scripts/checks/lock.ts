// What package-lock.json names is installed only if its content has the hash that stands there. An entry without a hash is
// installed whatever it contains, so there must be none.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Check, read } from "./kit.ts"

interface Entry {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
}

/**
 * Builds of development tools for other platforms that the registry we build from does not carry, so that their hashes
 * are not known here. `scripts/install/complete-lock.mjs` adds them when it does; then the line goes.
 */
const unknown: Readonly<Record<string, string>> = {
  "@effect/tsgo-": "0.45.0",
  "@oxc-parser/binding-": "0.155.0",
  "@oxfmt/binding-": "0.77.0",
  "@oxlint/binding-": "1.93.0",
  "@oxlint-tsgolint/": "7.0.2006",
}

export const lock: Check = async (root) => {
  if (!existsSync(join(root, "package-lock.json"))) return { looked: 0, unit: "packages", faults: [] }
  const { packages } = JSON.parse(read(root, "package-lock.json")) as { readonly packages: Record<string, Entry> }
  const faults: Array<string> = []
  const used = new Set<string>()
  let looked = 0
  for (const [path, entry] of Object.entries(packages)) {
    // Ours: a workspace, or the link to one.
    if (!path.includes("node_modules/") || entry.link) continue
    looked++
    if (/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? "")) continue
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
    const family = Object.keys(unknown).find((one) => name.startsWith(one) && entry.version === unknown[one])
    const isToolElsewhere = entry.dev === true && entry.optional === true && (entry.os ?? entry.cpu) !== undefined
    if (entry.integrity === undefined && family !== undefined && isToolElsewhere) used.add(family)
    else
      faults.push(
        `${path}: ${entry.integrity === undefined ? "has no integrity hash" : `its hash ${entry.integrity} is not sha512`}; run node scripts/install/complete-lock.mjs`,
      )
  }
  // Said only of a lock that has the family: a test's lock need not.
  for (const [family, version] of Object.entries(unknown)) {
    const has = Object.keys(packages).some((path) => path.includes(`node_modules/${family}`))
    if (has && !used.has(family))
      faults.push(`${family}* ${version} needs no exception any more: remove its line in scripts/checks/lock.ts`)
  }
  return { looked, unit: "packages", faults }
}
