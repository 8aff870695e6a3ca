// Run after every `npm install` that changes dependencies. A registry that lacks other platforms' binaries leaves them out of
// the lock, and `npm ci` then refuses it; this adds name, version, os, cpu and libc, and the hash where a registry has it.
// npm never fetches them on the wrong platform. `npm run check lock` lists what still has no hash.
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { promisify } from "node:util"

const run = promisify(execFile)

const file = new URL("../../package-lock.json", import.meta.url)
const lock = JSON.parse(readFileSync(file, "utf8"))
let added = 0
for (const [at, p] of Object.entries({ ...lock.packages }))
  for (const [name, range] of Object.entries(p.optionalDependencies ?? {})) {
    if (lock.packages[`${at}/node_modules/${name}`] || lock.packages[`node_modules/${name}`]) continue
    const os = /win32|windows/.test(name)
      ? "win32"
      : name.match(/darwin|freebsd|android|openharmony|linux|aix|sunos/)?.[0]
    const cpu = /wasm/.test(name)
      ? "wasm32"
      : name.match(/arm64|x64|ia32|ppc64|riscv64|s390x|loong64|mips64el|arm/)?.[0]
    if (!os && !cpu) continue
    lock.packages[`node_modules/${name}`] = {
      version: range.replace(/^[\^~]/, ""),
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(p.dev ? { dev: true } : {}),
      optional: true,
      ...(os ? { os: [os] } : {}),
      ...(/musl/.test(name) ? { libc: ["musl"] } : /gnu/.test(name) ? { libc: ["glibc"] } : {}),
    }
    added++
  }

/** As the registry says it; undefined if it does not carry the package. */
const integrityOf = (name, version) =>
  run("npm", ["view", `${name}@${version}`, "dist.integrity"], { timeout: 60_000 }).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  )

let hashed = 0
for (const [at, p] of Object.entries(lock.packages)) {
  if (!at.includes("node_modules/") || p.link || p.integrity) continue
  const integrity = await integrityOf(at.split("node_modules/").at(-1), p.version)
  if (integrity === undefined) continue
  const { version, ...rest } = p
  lock.packages[at] = { version, integrity, ...rest }
  hashed++
}
writeFileSync(file, JSON.stringify(lock, null, 2) + "\n")
console.log("added", added, "hashed", hashed)
