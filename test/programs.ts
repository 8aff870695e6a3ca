// The programs of the machine that tests need beside Node: a browser for the page, bubblewrap for agents' programs.
// They are installed once, before any suite: two workers that install at once lock each other out.
import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { homedir } from "node:os"
import { delimiter, dirname, join } from "node:path"

const onPath = (...names: ReadonlyArray<string>): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

const downloaded = ["chrome-linux/chrome", "chrome-linux64/chrome", "chrome-mac/Chromium.app/Contents/MacOS/Chromium"]

/** Where Playwright keeps the browsers it has downloaded. */
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

/** The same engine without a window: a test takes four fifths of the time. */
const shell = () => onPath("chromium-headless-shell")
const whole = () =>
  onPath("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome") ?? ofPlaywright()
const chromium = () => shell() ?? whole()

/** `window`: as people have it, where there is one; frames are counted in it. */
export const chromiumPath = ({ window = false } = {}): string => {
  const found = window ? (whole() ?? shell()) : chromium()
  if (found !== undefined) return found
  throw new Error(
    "No Chromium was found. Install one: `npx playwright-core install chromium`, or your system's package.",
  )
}

const isDebian = () =>
  existsSync("/etc/os-release") && /^ID(?:_LIKE)?=.*debian/m.test(readFileSync("/etc/os-release", "utf8"))

const run = (command: string, args: ReadonlyArray<string>) =>
  void spawnSync(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  })

/** Installs what is missing, as far as this user may. What is still missing afterwards, the tests that need it say. */
export const installPrograms = (): void => {
  const packages = [
    ...(chromium() === undefined ? ["chromium-headless-shell", "fonts-liberation"] : []),
    ...(process.platform === "linux" && onPath("bwrap") === undefined ? ["bubblewrap"] : []),
  ]
  if (packages.length === 0) return
  if (process.getuid?.() === 0 && isDebian()) {
    console.log(`Installing ${packages.join(", ")} for the tests`)
    run("apt-get", ["update", "-qq"])
    run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages])
  } else if (chromium() === undefined) {
    console.log("Downloading a Chromium for the tests")
    const main = createRequire(import.meta.url).resolve("playwright-core")
    run(process.execPath, [join(dirname(main), "cli.js"), "install", "chromium"])
  }
}
