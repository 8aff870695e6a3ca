// Every package we ship with must have a licence that lets anybody do the same. Read from package-lock.json, which knows
// what is production (`dev` absent), and from the package itself where the lock says nothing.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Check, read } from "./kit.ts"

const allowed = new Set(
  "MIT MIT-0 ISC BSD-2-Clause BSD-3-Clause BSD Apache-2.0 0BSD BlueOak-1.0.0 CC0-1.0 Python-2.0 Unlicense Zlib PostgreSQL".split(
    " ",
  ),
)
interface Entry {
  readonly license?: string | { readonly type?: string }
  readonly licenses?: ReadonlyArray<{ readonly type?: string }>
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly link?: boolean
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
}

/** SPDX: of `A OR B` one suffices, of `A AND B` all are needed. */
export const isAllowed = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, " ")
    .split(/\s+OR\s+/)
    .some((one) => one.split(/\s+AND\s+/).every((id) => allowed.has(id.trim())))

const licenceOf = (entry: Entry): string | undefined =>
  (typeof entry.license === "string" ? entry.license : entry.license?.type) ??
  entry.licenses?.map((it) => it.type ?? "?").join(" OR ")

export const licences: Check = async (root) => {
  if (!existsSync(join(root, "package-lock.json"))) return { looked: 0, unit: "packages", faults: [] }
  const lock = JSON.parse(read(root, "package-lock.json")) as { readonly packages: Record<string, Entry> }
  let looked = 0
  const faults: Array<string> = []
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (!path.includes("node_modules/") || entry.link || entry.dev || entry.devOptional) continue
    const manifest = `${path}/package.json`
    const here = existsSync(join(root, manifest))
    // Another platform's half of a package we judge anyway, which this registry did not carry.
    const elsewhere = !here && entry.optional === true && (entry.os ?? entry.cpu) !== undefined
    const licence = licenceOf(entry) ?? (here ? licenceOf(JSON.parse(read(root, manifest)) as Entry) : undefined)
    if (licence === undefined && elsewhere) continue
    looked++
    if (licence === undefined || !isAllowed(licence)) faults.push(`${path}: ${licence ?? "no licence"} is not allowed`)
  }
  for (const path of [
    "package.json",
    ...Object.keys(lock.packages)
      .filter((it) => /^packages\/[^/]+$/.test(it))
      .map((it) => `${it}/package.json`),
  ])
    if (existsSync(join(root, path)) && licenceOf(JSON.parse(read(root, path)) as Entry) !== "MIT")
      faults.push(`${path}: ours is MIT; say "license": "MIT"`)
  return { looked, unit: "packages", faults }
}
