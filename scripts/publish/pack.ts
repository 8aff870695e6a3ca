// Tarballs of the built packages, each packed from a staged copy: dist, its bin, the published package.json.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run } from "../checks/kit.ts"
import { buildable, folderOf, manifestOf } from "./build.ts"
import { published } from "./manifest.ts"

/** The launcher in bin/ runs the sources in a checkout, and what was built from them elsewhere. */
const toBuilt = (folder: string) => {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, "utf8").replace(/\.\.\/src\/([\w/-]+)\.ts/g, "../dist/$1.js"))
  }
}

/** What a package needs from elsewhere in the checkout, by the place it has in the package. */
const carriedBy = (root: string): Readonly<Record<string, Readonly<Record<string, string>>>> => {
  const builds = "packages/web/dist"
  const current = join(root, builds, "current")
  const app = existsSync(current) ? { "pages/app": join(builds, readFileSync(current, "utf8").trim()) } : {}
  return {
    server: {
      pages: "packages/web/public",
      "pages/errors": "docs/errors",
      "pages/user": "docs/user",
      "pages/operations": "docs/operations",
      ...app,
    },
  }
}

const stage = (root: string, name: string, to: string) => {
  const from = folderOf(root, name)
  if (!existsSync(join(from, "dist"))) throw new Error(`@stoa/${name} is not built; run \`npm run build\``)
  const brought = Object.entries(carriedBy(root)[name] ?? {}).filter(([, path]) => existsSync(join(root, path)))
  const built = published(manifestOf(root, name))
  const manifest = { ...built, files: [...(built.files ?? []), ...brought.map(([place]) => place)] }
  mkdirSync(to, { recursive: true })
  for (const path of new Set([...(built.files ?? []), "README.md"]))
    if (existsSync(join(from, path))) cpSync(join(from, path), join(to, path), { recursive: true })
  for (const [place, path] of brought) cpSync(join(root, path), join(to, place), { recursive: true })
  if (existsSync(join(root, "LICENSE"))) cpSync(join(root, "LICENSE"), join(to, "LICENSE"))
  if (existsSync(join(to, "bin"))) toBuilt(join(to, "bin"))
  writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Packs what `build` built into `out`; the paths of the tarballs, by package. */
export const pack = async (root: string, out: string): Promise<Record<string, string>> => {
  mkdirSync(out, { recursive: true })
  const staged = mkdtempSync(join(tmpdir(), "stoa-pack-"))
  try {
    const packed = buildable(root).map(async (name) => {
      const folder = join(staged, name)
      stage(root, name, folder)
      const said = await run(folder, "npm", ["pack", "--json", "--ignore-scripts", `--pack-destination=${out}`])
      if (said.code !== 0) throw new Error(`npm pack @stoa/${name}: ${said.stderr}`)
      return [name, join(out, `stoa-${name}-${manifestOf(root, name).version}.tgz`)]
    })
    return Object.fromEntries(await Promise.all(packed)) as Record<string, string>
  } finally {
    rmSync(staged, { recursive: true, force: true })
  }
}
