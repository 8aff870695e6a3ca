// Run after every `npm install` that changes dependencies. A registry that lacks other platforms' binaries leaves them out of
// the lock, and `npm ci` then refuses it; this adds name, version, os, cpu and libc. npm never fetches them on the wrong platform.
import { readFileSync, writeFileSync } from "node:fs"

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
writeFileSync(file, JSON.stringify(lock, null, 2) + "\n")
console.log("added", added)
