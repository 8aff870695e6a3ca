// Bundles the command, and the house that it serves, into few files: `node packages/cli/bundle.mjs`. Finding and loading a
// thousand modules is most of a start. It is made after an installation, and beside a house that starts from newer sources;
// bin/entry.mjs takes it while it is fresh. Each lies in a folder of its own; `current.json`, written last, names the newest.
import * as fs from "node:fs"
import { basename, join, relative } from "node:path"
import { bundleInto } from "./bundling.mjs"
import { bundled, cache, pointer, root } from "./bin/entry.mjs"

/** What it is made by, and what says how: beside the sources. */
const others = [
  "package-lock.json",
  "tsconfig.json",
  "packages/cli/bundle.mjs",
  "packages/cli/bundling.mjs",
  ...["cli", "contract", "importers", "sdk", "server", "tools"].map((name) => `packages/${name}/package.json`),
]
/** A house that was started from an older one may still load a part of it. */
const kept = 5
const hour = 3600 * 1000

const clean = (newest) => {
  const all = fs
    .readdirSync(cache)
    .filter((name) => name !== basename(newest) && name !== basename(pointer))
    .map((name) => ({ path: join(cache, name), at: fs.statSync(join(cache, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at)
  // Those that are just being made by others are the newest.
  for (const { at, path } of all.slice(kept - 1))
    if (at < Date.now() - hour) fs.rmSync(path, { recursive: true, force: true })
}

const bundle = async () => {
  fs.mkdirSync(cache, { recursive: true })
  const folder = fs.mkdtempSync(join(cache, "b-"))
  fs.chmodSync(folder, 0o755)
  try {
    const known = new Map(others.map((file) => [join(root, file), fs.statSync(join(root, file))]))
    // What is loaded only when it is needed stays where it is: a house that has run for long may outlive its bundle.
    const outside = ["ai", /^@ai-sdk\//]
    const sources = await bundleInto(folder, { main: join(root, "packages/cli/src/main.ts") }, outside)
    const inputs = [...known, ...sources].map(([file, { mtimeMs, size }]) => [relative(root, file), mtimeMs, size])
    const outputs = fs.readdirSync(folder).map((file) => [file, fs.statSync(join(folder, file)).size])
    const made = join(folder, "current.json")
    fs.writeFileSync(made, JSON.stringify({ root, name: basename(folder), inputs, outputs }))
    fs.renameSync(made, pointer)
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true })
    throw error
  }
  clean(folder)
}

/** No bundler here (`--omit=dev`), or no place to write to: commands start from the sources. */
const isNoPlace = (error) => ["ERR_MODULE_NOT_FOUND", "EROFS", "EACCES", "EPERM"].includes(error?.code)

// The house that asked for it is gone.
const leave = () => process.exit(1)
process.once("disconnect", leave)
// A house has a stricter one, and what it makes here is for all who use this checkout.
process.umask(0o022)
if (bundled() === undefined)
  await bundle().catch((error) => {
    if (!isNoPlace(error)) throw error
  })
process.off("disconnect", leave)
if (process.connected) process.disconnect()
