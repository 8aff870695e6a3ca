/** Where other people's programs run: a home of their own, no way out, and every setting against phoning home. */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const clientsFolder = fileURLToPath(new URL("..", import.meta.url))
/** Programs that run where the packages of others are installed. */
export const scriptsFolder = join(clientsFolder, "scripts")
export const stoa = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url))

const read = <A>(file: string): A => JSON.parse(readFileSync(join(clientsFolder, file), "utf8")) as A

const isInstalled = ([name, version]: readonly [string, string]): boolean => {
  const file = `node_modules/${name}/package.json`
  return existsSync(join(clientsFolder, file)) && read<{ readonly version: string }>(file).version === version
}

export const install = (): void => {
  const { dependencies } = read<{ readonly dependencies: Record<string, string> }>("package.json")
  if (Object.entries(dependencies).every(isInstalled)) return
  console.error("installing the clients (about 1 GB on disk) ...")
  const { status } = spawnSync("npm", ["install", "--loglevel=error"], { cwd: clientsFolder, stdio: ["ignore", 2, 2] })
  if (status !== 0) throw new Error("the clients could not be installed")
}

/** How to run a program where there is no network but loopback, if this machine has a way. */
export const withoutNetwork = (): ReadonlyArray<string> | undefined => {
  const up = 'ip link set lo up && exec "$0" "$@"'
  return ["-n", "-rn"]
    .map((flag) => ["unshare", flag, "--", "sh", "-c", up])
    .find(([command, ...args]) => spawnSync(command!, [...args, "true"]).status === 0)
}

/** What stands where a proxy should: it lets nothing through, and remembers who asked for what. */
export interface BlockingProxy {
  readonly url: string
  readonly tripped: ReadonlyArray<string>
  readonly close: () => void
}
export const startBlockingProxy = async (): Promise<BlockingProxy> => {
  const tripped: Array<string> = []
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", (chunk) => {
      tripped.push(chunk.toString().split("\r\n")[0]!)
      socket.destroy()
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, tripped, close: () => server.close() }
}

const local = "127.0.0.1,localhost"
const noTrafficSettings = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_TELEMETRY: "1",
  DO_NOT_TRACK: "1",
  // Tools are shown to the model as they are, not behind a search.
  ENABLE_TOOL_SEARCH: "false",
  NO_UPDATE_NOTIFIER: "1",
  NO_PROXY: local,
  no_proxy: local,
}

export class Isolation {
  readonly home = mkdtempSync(join(tmpdir(), "stoa-clients-"))
  readonly #proxy: string

  constructor(proxy: string) {
    this.#proxy = proxy
  }

  env(over: Record<string, string> = {}): Record<string, string> {
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: this.home,
      ...Object.fromEntries(names.map((name) => [name, this.#proxy])),
      ...noTrafficSettings,
      ...over,
    }
  }

  /** Runs a program to its end. `answer` says what to write for a line that it printed. */
  run(
    command: string,
    args: ReadonlyArray<string>,
    options: {
      readonly env?: Record<string, string>
      readonly answer?: (line: string) => Promise<string | undefined>
    } = {},
  ): Promise<{ readonly code: number | null; readonly lines: ReadonlyArray<string>; readonly stderr: string }> {
    const child = spawn(command, args, { cwd: this.home, env: this.env(options.env), timeout: 120_000 })
    if (options.answer === undefined) child.stdin.end()
    let [text, stderr, read] = ["", "", 0]
    const linesIn = () => text.split("\n").slice(0, -1)
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      for (const line of linesIn().slice(read)) {
        read++
        void options.answer?.(line).then(
          (words) => words !== undefined && child.stdin.write(`${words}\n`),
          (cause: unknown) => child.kill() && (stderr += String(cause)),
        )
      }
    })
    return new Promise((done, fail) => {
      child.once("error", fail)
      child.once("close", (code) => done({ code, lines: text.split("\n").filter((line) => line !== ""), stderr }))
    })
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true })
  }
}
