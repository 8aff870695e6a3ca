// Whether node_modules was made from today's package-lock.json, and who is making it. Old syntax: see boot.mjs.
import { createHash } from "node:crypto"
import * as fs from "node:fs"

var at = function (name) {
  return new URL("../../" + name, import.meta.url)
}
var stamp = at("node_modules/.stoa-lock")
var claimed = at("node_modules/.stoa-installing")

function digest() {
  return createHash("sha256")
    .update(fs.readFileSync(at("package-lock.json")))
    .digest("hex")
}

export function installed() {
  try {
    return fs.readFileSync(stamp, "utf8") === digest()
  } catch {
    return false
  }
}
export function markInstalled() {
  if (fs.existsSync(at("node_modules/.package-lock.json"))) fs.writeFileSync(stamp, digest())
}

function alive(pid) {
  if (pid === process.pid) return false // left by a dead process that had our number: a container starts counting anew
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

/** Undefined when the right to install is now ours, else the process that has it. */
export function claim() {
  fs.mkdirSync(at("node_modules"), { recursive: true })
  try {
    fs.writeFileSync(claimed, String(process.pid), { flag: "wx" })
    return undefined
  } catch (error) {
    if (error.code !== "EEXIST") throw error
  }
  var holder
  try {
    holder = Number(fs.readFileSync(claimed, "utf8"))
  } catch {
    return claim() // released meanwhile
  }
  if (!holder) return 0 // claimed, but its number is not written yet
  if (alive(holder)) return holder
  // Its owner was killed. Renamed away before it is removed, so that of two who see this only one removes it.
  var mine = at("node_modules/.stoa-installing-" + process.pid)
  try {
    fs.renameSync(claimed, mine)
    fs.rmSync(mine)
  } catch {}
  return claim()
}

export function release() {
  fs.rmSync(claimed, { force: true })
}
