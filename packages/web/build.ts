// Builds the page when it is missing or stale: `node packages/web/build.ts`. Each build lies in a folder of its own, named
// by a digest of what it is made from, and `dist/current` names the one to serve: nobody ever sees half of one, and a page
// that is open still finds the parts it was made of.
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"

const here = import.meta.dirname
const root = join(here, "../..")
const dist = join(here, "dist")
const pointer = join(dist, "current")
const kept = 3

/** Everything the page is made from. Names count too, so that a file that was moved is a change. */
const sources = [
  "packages/web/src",
  "packages/web/index.html",
  "packages/web/link.html",
  "packages/web/build.ts",
  "packages/web/package.json",
  "packages/sdk/src",
  "packages/contract/src",
  "package-lock.json",
]

const filesIn = (path: string): ReadonlyArray<string> =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path)
        .toSorted()
        .flatMap((name) => filesIn(join(path, name)))

const digest = (): string => {
  const hash = createHash("sha256")
  for (const file of sources.flatMap((source) => filesIn(join(root, source))))
    hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0")
  return hash.digest("hex").slice(0, 16)
}

/** Written once, at the highest level, so that no request has to. What hardly shrinks is left as it is. */
const compress = (folder: string) => {
  for (const file of filesIn(folder).filter((one) => /\.(js|css|svg|html)$/.test(one))) {
    const bytes = readFileSync(file)
    if (bytes.length < 600) continue
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
  }
}

const made = async (outDir: string) => {
  const [{ build }, { default: react }] = await Promise.all([import("vite"), import("@vitejs/plugin-react")])
  await build({
    root: here,
    configFile: false,
    publicDir: false,
    logLevel: "warn",
    plugins: [react()],
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      target: "es2023",
      // Browsers that know light-dark(): otherwise it is rewritten.
      cssTarget: ["chrome125", "firefox125", "safari17.5"],
      modulePreload: { polyfill: false },
      rolldownOptions: { input: { index: join(here, "index.html"), link: join(here, "link.html") } },
    },
  })
}

const currentName = (): string | undefined => (existsSync(pointer) ? readFileSync(pointer, "utf8").trim() : undefined)

/** Makes `current` name the page as its sources are now. */
const buildPage = async (): Promise<void> => {
  const name = digest()
  const folder = join(dist, name)
  if (currentName() === name && existsSync(join(folder, "index.html"))) return
  mkdirSync(dist, { recursive: true })
  if (!existsSync(folder)) {
    const making = join(dist, `making-${process.pid}`)
    try {
      await made(making)
      compress(making)
      // Two may build at once; both make the same.
      if (!existsSync(folder)) renameSync(making, folder)
    } finally {
      rmSync(making, { recursive: true, force: true })
    }
  }
  writeFileSync(`${pointer}-${process.pid}`, name)
  renameSync(`${pointer}-${process.pid}`, pointer)
  const old = readdirSync(dist, { withFileTypes: true })
    .filter((one) => one.isDirectory() && /^[0-9a-f]{16}$/.test(one.name) && one.name !== name)
    .map((one) => ({ path: join(dist, one.name), at: statSync(join(dist, one.name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at)
  for (const { path } of old.slice(kept - 1)) rmSync(path, { recursive: true, force: true })
}

// Whoever starts it may be a test: the page is always the one people get.
process.env["NODE_ENV"] = "production"
// The house that asked for it is gone.
const leave = () => process.exit(1)
process.once("disconnect", leave)
// A build to be timed or looked at: always made, and served by nobody.
const [flag, into] = process.argv.slice(2)
if (flag === "--into" && into !== undefined) {
  await made(into)
  compress(into)
} else await buildPage()
process.off("disconnect", leave)
if (process.connected) process.disconnect()
