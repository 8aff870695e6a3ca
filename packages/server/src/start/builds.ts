/**
 * In a checkout, the page, and the bundle for the next start, are built while the house starts, each in its own
 * process, if they are missing or stale. The house does not wait for them. A published package contains its page.
 */
// edge: child processes and their signals.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

const scripts = {
  "The page": new URL("../../../web/build.ts", import.meta.url),
  "The bundle": new URL("../../../cli/bundle.mjs", import.meta.url),
}

const built = (script: URL) =>
  Effect.callback<string | undefined>((resume) => {
    // It exits when the channel closes: a killed house leaves no builder behind.
    const child = spawn(process.execPath, [fileURLToPath(script)], { stdio: ["ignore", "ignore", "pipe", "ipc"] })
    let said = ""
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2000)))
    child.once("error", (error) => resume(Effect.succeed(error.message)))
    child.once("close", (code) => resume(Effect.succeed(code === 0 ? undefined : said)))
    return Effect.sync(() => child.kill())
  })

export const builds = Effect.forEach(
  Object.entries(scripts),
  ([name, script]) =>
    existsSync(script)
      ? Effect.flatMap(built(script), (fault) =>
          fault === undefined ? Effect.void : Effect.logError(`${name} could not be built`, { fault }),
        )
      : Effect.void,
  { discard: true },
)
