/**
 * In a checkout the page is built beside the house's own start, by a process of its own, when it is missing or stale. The
 * house does not wait for it. A published package carries its page.
 */
// edge: a child process and its signals.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

const script = new URL("../../web/build.ts", import.meta.url)

const built = Effect.callback<string | undefined>((resume) => {
  // It leaves when the channel closes: a house that is killed leaves no builder behind.
  const child = spawn(process.execPath, [fileURLToPath(script)], { stdio: ["ignore", "ignore", "pipe", "ipc"] })
  let said = ""
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2000)))
  child.once("error", (error) => resume(Effect.succeed(error.message)))
  child.once("close", (code) => resume(Effect.succeed(code === 0 ? undefined : said)))
  return Effect.sync(() => child.kill())
})

export const pageBuild = existsSync(script)
  ? Effect.flatMap(built, (fault) =>
      fault === undefined ? Effect.void : Effect.logError("The page could not be built", { fault }),
    )
  : Effect.void
