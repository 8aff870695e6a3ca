// Packages as others install them: JavaScript and .d.ts in packages/<name>/dist. The checkout itself runs the .ts files.
// Built in the order of their dependencies, each against the .d.ts of the ones before: their sources would be outside rootDir.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "../checks/kit.ts"
import { type Manifest, published } from "./manifest.ts"

/** The server is among them because the command line needs it to serve. */
const packages = ["contract", "importers", "tools", "sdk", "server", "cli"]

export const folderOf = (root: string, name: string) => join(root, "packages", name)
export const manifestOf = (root: string, name: string) =>
  JSON.parse(readFileSync(join(folderOf(root, name), "package.json"), "utf8")) as Manifest

/** Packages that have sources yet. */
export const buildable = (root: string): ReadonlyArray<string> =>
  packages.filter((name) => ["index.ts", "main.ts"].some((file) => existsSync(join(folderOf(root, name), "src", file))))

/** Where the .d.ts of each entry of a built package is: `@stoa/contract` -> packages/contract/dist/index.d.ts. */
const declarations = (root: string, name: string) =>
  Object.entries(published(manifestOf(root, name)).exports ?? {}).flatMap(([entry, to]) => {
    const types = typeof to === "object" && to !== null && "types" in to ? to.types : undefined
    return typeof types === "string" ? [[`@stoa/${name}${entry.slice(1)}`, [join(folderOf(root, name), types)]]] : []
  })

const compile = async (root: string, name: string): Promise<void> => {
  const folder = folderOf(root, name)
  const config = join(root, "node_modules/.cache", `build-${name}.json`)
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true })
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    // `npm run check types` does that, for all of them at once.
    noCheck: true,
    incremental: false,
    tsBuildInfoFile: null,
    rootDir: join(folder, "src"),
    outDir: join(folder, "dist"),
    paths: Object.fromEntries(buildable(root).flatMap((it) => (it === name ? [] : declarations(root, it)))),
  }
  const scope = { include: [join(folder, "src")], exclude: [join(folder, "src/**/*.test.ts")] }
  writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, ...scope }))
  rmSync(join(folder, "dist"), { recursive: true, force: true })
  const out = await run(root, "tsc", ["-p", config])
  if (out.code !== 0) throw new Error(`@stoa/${name} does not build:\n${out.stdout}${out.stderr}`)
}

/** What tsc leaves behind: files that are not TypeScript, and `new URL("./worker.ts", import.meta.url)`. */
const finish = (folder: string): number => {
  let emitted = 0
  for (const entry of readdirSync(join(folder, "src"), { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name)
    if (entry.isFile() && !/\.tsx?$/.test(entry.name)) cpSync(from, from.replace("/src/", "/dist/"))
  }
  for (const entry of readdirSync(join(folder, "dist"), { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith(".js")) continue
    emitted++
    const file = join(entry.parentPath, entry.name)
    const text = readFileSync(file, "utf8")
    const fixed = text.replace(/(new URL\(\s*"\.[^"]*)\.tsx?("\s*,\s*import\.meta\.url)/g, "$1.js$2")
    if (fixed !== text) writeFileSync(file, fixed)
  }
  return emitted
}

export const build = async (root: string, say: (words: string) => void): Promise<void> => {
  const names = buildable(root)
  if (names.length === 0) throw new Error("nothing to build: no package has a src/index.ts or src/main.ts")
  for (const name of names) {
    await compile(root, name)
    say(`built @stoa/${name}: ${finish(folderOf(root, name))} files`)
  }
  const page = join(folderOf(root, "web"), "build.ts")
  if (!existsSync(page)) return
  const out = await run(root, process.execPath, [page])
  if (out.code !== 0) throw new Error(`The page does not build:\n${out.stderr}`)
  say("built the page")
}
