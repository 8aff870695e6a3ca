// After every npm install: tsc reports Effect mistakes, commands start from a bundle, and boot.mjs knows there is nothing
// left to install.
// Silent where dev tools are absent (--omit=dev, --package-lock-only).
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { markInstalled } from "./lock.mjs"

var bin = fileURLToPath(new URL("../../node_modules/.bin/effect-tsgo", import.meta.url))
var status = existsSync(bin) ? spawnSync(bin, ["patch"], { stdio: ["ignore", "ignore", "inherit"] }).status : 0
// Without it commands start from the sources.
spawnSync(process.execPath, [fileURLToPath(new URL("../../packages/cli/bundle.mjs", import.meta.url))], {
  stdio: "ignore",
})
if (status === 0) markInstalled()
else process.exitCode = status || 1
