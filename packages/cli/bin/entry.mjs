// What a command starts from: in a checkout the bundle (../bundle.mjs), while its sources are what it was made from; else
// the sources themselves.
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const root = fileURLToPath(new URL("../../..", import.meta.url))
export const cache = join(root, "node_modules/.cache/stoa")
/** Names the newest, with the files it was made from and those it is. */
export const pointer = join(cache, "current.json")

const isSame = ([file, mtimeMs, size]) => {
  // `join` would take 20 ms for all of them, a tenth of a short command.
  const now = fs.statSync(root + file, { throwIfNoEntry: false })
  return now !== undefined && now.mtimeMs === mtimeMs && now.size === size
}

/** The newest bundle; undefined, if there is none, or it is stale, half, or was made in another place. */
export const bundled = () => {
  try {
    const { inputs, name, outputs, root: where } = JSON.parse(fs.readFileSync(pointer, "utf8"))
    const isWhole = ([file, size]) => fs.statSync(join(cache, name, file)).size === size
    if (where === root && outputs.every(isWhole) && inputs.every(isSame))
      return pathToFileURL(join(cache, name, "main.mjs")).href
  } catch {
    // There is none.
  }
  return undefined
}

export const entry = () => bundled() ?? new URL("../src/main.ts", import.meta.url).href
