#!/usr/bin/env node
// Old syntax on purpose: the user's Node may be any; src/main.ts needs >= 22.19 and gets the one npm carried.
import { spawn } from "node:child_process"
import * as module from "node:module"
import { fileURLToPath } from "node:url"

var main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
var v = process.versions.node.split(".").map(Number)
if (v[0] > 22 || (v[0] === 22 && v[1] >= 19)) {
  process.argv[1] = main
  // Compiled once on this machine, a command starts in half the time.
  module.enableCompileCache()
  void import("./entry.mjs").then(function (found) {
    return import(found.entry())
  })
} else {
  var node
  try {
    node = module.createRequire(import.meta.url).resolve("node-" + process.platform + "-" + process.arch + "/bin/node")
  } catch {
    console.error("stoa needs Node >= 22.19, this is " + process.version)
    process.exit(1)
  }
  var child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  })
  ;["SIGINT", "SIGTERM", "SIGHUP"].forEach(function (s) {
    process.on(s, function () {
      child.kill(s)
    })
  })
  child.on("exit", function (code, signal) {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code === null ? 1 : code)
  })
}
