// `node scripts/boot.mjs scripts/pack.ts [folder]`: builds, then packs each package as a tarball into the folder (default: dist).
import { resolve } from "node:path"
import { home } from "./checks/kit.ts"
import "./exitWithParent.ts"
import { build } from "./publish/build.ts"
import { pack } from "./publish/pack.ts"

const out = resolve(process.argv[2] ?? `${home}/dist`)
try {
  await build(home, console.error)
  for (const tarball of Object.values(await pack(home, out))) console.log(tarball)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
