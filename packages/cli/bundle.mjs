// Bundles the command, and the house that it serves, into few files: `node packages/cli/bundle.mjs`. Finding and loading a
// thousand modules is most of a start. It is made after an installation, and beside a house that starts from newer sources;
// bin/entry.mjs takes it while it is fresh. Each lies in a folder of its own, so that nobody sees half of one.
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join, relative } from "node:path"
import { pathToFileURL } from "node:url"
import { bundleInto } from "./bundling.mjs"
import { cache, entry, pointer, root } from "./bin/entry.mjs"

const main = join(root, "packages/cli/src/main.ts")
/** A house that was started from an older one may still load a part of it. */
const kept = 3

/** Of the sources as they are now; a package changes with the lock. */
const inputsOf = (files) =>
  [...files.map((file) => relative(root, file)).filter((file) => file.startsWith("packages/")), "package-lock.json"]
    .map((file) => [file, fs.statSync(join(root, file))])
    .map(([file, { mtimeMs, size }]) => [file, mtimeMs, size])

const bundle = async () => {
  fs.mkdirSync(cache, { recursive: true })
  const making = join(cache, `making-${process.pid}`)
  try {
    const began = Date.now()
    const inputs = inputsOf(await bundleInto(making, { main }))
    // Changed while it was made: whoever comes next makes it again.
    if (inputs.some(([, mtimeMs]) => mtimeMs >= began)) return
    const name = createHash("sha256").update(JSON.stringify(inputs)).digest("hex").slice(0, 16)
    const folder = join(cache, name)
    if (!fs.existsSync(folder)) fs.renameSync(making, folder)
    fs.writeFileSync(`${pointer}-${process.pid}`, JSON.stringify({ name, inputs }))
    fs.renameSync(`${pointer}-${process.pid}`, pointer)
    const old = fs
      .readdirSync(cache)
      .filter((one) => /^[0-9a-f]{16}$/.test(one) && one !== name)
      .map((one) => ({ path: join(cache, one), at: fs.statSync(join(cache, one)).mtimeMs }))
      .toSorted((a, b) => b.at - a.at)
    for (const { path } of old.slice(kept - 1)) fs.rmSync(path, { recursive: true, force: true })
  } finally {
    fs.rmSync(making, { recursive: true, force: true })
  }
}

// The house that asked for it is gone.
const leave = () => process.exit(1)
process.once("disconnect", leave)
if (entry() === pathToFileURL(main).href) await bundle()
process.off("disconnect", leave)
if (process.connected) process.disconnect()
