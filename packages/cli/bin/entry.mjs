// What a command starts from: in a checkout the bundle (../bundle.mjs), while its sources are what it was made from; else
// the sources themselves.
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const root = fileURLToPath(new URL("../../..", import.meta.url))
export const cache = join(root, "node_modules/.cache/stoa")
/** Names the newest, and the files it was made from. */
export const pointer = join(cache, "current.json")

const isSame = ([file, mtimeMs, size]) => {
  const now = fs.statSync(join(root, file), { throwIfNoEntry: false })
  return now !== undefined && now.mtimeMs === mtimeMs && now.size === size
}

export const entry = () => {
  try {
    const { inputs, name } = JSON.parse(fs.readFileSync(pointer, "utf8"))
    const bundled = join(cache, name, "main.mjs")
    if (inputs.every(isSame) && fs.existsSync(bundled)) return pathToFileURL(bundled).href
  } catch {
    // There is none.
  }
  return new URL("../src/main.ts", import.meta.url).href
}
