/** The Chromium of this machine: on the path, or where Playwright keeps its own; on a Debian of ours it is installed. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
const downloaded = ["chrome-linux/chrome", "chrome-linux64/chrome", "chrome-mac/Chromium.app/Contents/MacOS/Chromium"]

const onPath = (): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file))

const ofPlaywright = (): string | undefined => {
  const folder = process.env["PLAYWRIGHT_BROWSERS_PATH"] ?? join(homedir(), ".cache/ms-playwright")
  if (!existsSync(folder)) return undefined
  return readdirSync(folder)
    .filter((name) => name.startsWith("chromium-"))
    .toSorted()
    .toReversed()
    .flatMap((name) => downloaded.map((file) => join(folder, name, file)))
    .find((file) => existsSync(file))
}

const found = () => onPath() ?? ofPlaywright()

const isDebian = () =>
  existsSync("/etc/os-release") && /^ID(?:_LIKE)?=.*debian/m.test(readFileSync("/etc/os-release", "utf8"))

export const chromiumPath = (): string => {
  const here = found()
  if (here !== undefined) return here
  if (process.getuid?.() === 0 && isDebian()) {
    execFileSync("apt-get", ["update", "-q"], { stdio: "inherit" })
    execFileSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"], { stdio: "inherit" })
  }
  const installed = found()
  if (installed === undefined)
    throw new Error(
      "No Chromium was found. Install one: `npx playwright-core install chromium`, or your system's package.",
    )
  return installed
}
