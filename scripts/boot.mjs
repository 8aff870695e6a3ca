// Usage: node scripts/boot.mjs <file.ts> [args]. Old syntax on purpose: an old Node must get far enough to hand over.
//   1. installs when package-lock.json is not the one node_modules was made from
//   2. continues on Node >= 22.19: this one, or the one npm carried
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as module from "node:module"
import * as path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { claim, installed, markInstalled, release } from "./install/lock.mjs"

var root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..")

function say(words) {
  process.stderr.write("stoa: " + words + "\n")
}

/** Calls `then` once node_modules fits the lock. Of two first starts one installs and the other waits for it. */
function ready(then, waited) {
  if (installed()) return then()
  var holder = claim()
  if (holder === undefined) return installed() ? (release(), then()) : install(then)
  if (!waited) say("process " + holder + " is installing already, waiting for it ...")
  setTimeout(ready, 500, then, true)
}

function install(then) {
  say("installing (first start, or the lock changed) ...")
  var started = Date.now()
  var progress = setInterval(function () {
    say("still installing, " + Math.round((Date.now() - started) / 1000) + " s ...")
  }, 10000)
  var args = ["install", "--no-audit", "--no-fund", "--loglevel=error"]
  var npm = process.env.npm_execpath // npm's own cli.js when npm started us; else the npm on PATH
  var command = npm && /\.[cm]?js$/.test(npm) ? process.execPath : "npm"
  var child = spawn(command, command === "npm" ? args : [npm].concat(args), { cwd: root, stdio: ["ignore", 2, 2] })
  child.on("error", function (error) {
    say("cannot run npm: " + error.message)
  })
  child.on("close", function (code) {
    clearInterval(progress)
    if (code === 0) markInstalled()
    release()
    if (code !== 0) process.exit(code > 0 ? code : 1)
    say("installed in " + Math.round((Date.now() - started) / 1000) + " s")
    then()
  })
}

function modern() {
  var v = process.versions.node.split(".").map(Number)
  return v[0] > 22 || (v[0] === 22 && v[1] >= 19)
}

function carried() {
  var file = path.join(root, "node_modules", "node-" + process.platform + "-" + process.arch, "bin", "node")
  if (fs.existsSync(file)) return file
  say("This is Node " + process.version + ". Install Node 22.19 or newer from nodejs.org")
  return process.exit(1)
}

/** npm puts a shell between itself and us: a signal for npm ends that shell and never comes here. Its orphan leaves too. */
function leaveWithNpm(leave) {
  var parent = process.ppid
  if (!process.env.npm_lifecycle_event) return
  setInterval(function () {
    if (process.ppid !== parent) leave()
  }, 1000).unref()
}

function handOver() {
  var target = path.resolve(process.argv[2])
  if (modern()) {
    // Stripped and compiled once: a later start takes two thirds of the processor time and less memory.
    module.enableCompileCache(path.join(root, "node_modules", ".cache", "node"))
    process.argv.splice(1, 2, target)
    leaveWithNpm(function () {
      process.kill(process.pid, "SIGTERM")
    })
    return void import(pathToFileURL(target).href)
  }
  // The child holds an IPC channel and leaves on "disconnect": kill -9 of this launcher leaves no orphan.
  var child = spawn(carried(), [target].concat(process.argv.slice(3)), {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: Object.assign({}, process.env, {
      PATH: path.join(root, "node_modules", ".bin") + path.delimiter + process.env.PATH,
    }),
  })
  ;["SIGINT", "SIGTERM", "SIGHUP"].forEach(function (s) {
    process.on(s, function () {
      child.kill(s)
    })
  })
  leaveWithNpm(function () {
    child.kill("SIGTERM")
  })
  child.on("exit", function (code, signal) {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code === null ? 1 : code)
  })
}

ready(handOver)
