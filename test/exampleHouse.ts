/** What the examples' tests share and no example teaches: a real house on a free port and a folder of its own, and its end. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"

const root = join(import.meta.dirname, "..")
/** What this shell has set for a house of its own must not reach this one. */
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(STOA_|DATABASE_URL$)/.test(name)))

/** Everything a process says, as it says it. */
const heard = (child: ChildProcess) => {
  const said = { text: "" }
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.text += text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.text += text))
  return said
}

/** Starts before the tests of a file and is gone after them. `configuration` is the house's file, if it has one. */
export const exampleHouse = (name: string, configuration?: unknown, settings: Record<string, string> = {}) => {
  const data = mkdtempSync(join(tmpdir(), `${name}-`))
  const run = (file: string, args: ReadonlyArray<string>, env: Record<string, string>): ChildProcess =>
    spawn(process.execPath, [join(root, file), ...args], {
      // Elsewhere than the checkout: a configuration file that lies there is not this house's.
      cwd: data,
      env: { ...clean, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    })
  let house: ChildProcess
  let url = ""

  beforeAll(async () => {
    if (configuration !== undefined) writeFileSync(join(data, "stoa.config.json"), JSON.stringify(configuration))
    house = run("packages/cli/bin/stoa.mjs", ["serve"], {
      STOA_DATA: join(data, "house"),
      STOA_PORT: "0",
      STOA_DEMO: "off",
      ...settings,
    })
    const said = heard(house)
    url = await new Promise((found, fail) => {
      house.stdout?.on("data", () => {
        const address = /Stoa is at (\S+)/.exec(said.text)?.[1]
        if (address !== undefined) found(address)
      })
      house.once("exit", (code) => fail(new Error(`the house ended with ${code}: ${said.text}`)))
    })
  })

  afterAll(() => {
    house.kill("SIGKILL")
    rmSync(data, { recursive: true, force: true })
  })

  const asked = async (file: string, args: ReadonlyArray<string>) => {
    const token = readFileSync(join(data, "house/admin.token"), "utf8")
    const client = run(file, args, { STOA_URL: url, STOA_TOKEN: token })
    const said = heard(client)
    const [code] = (await once(client, "close")) as [number]
    return { code, said: said.text }
  }

  return {
    /** A command of the CLI against this house. */
    stoa: (...args: ReadonlyArray<string>) => asked("packages/cli/bin/stoa.mjs", args),
    /** The example's client against this house: what it said, and how it ended. */
    client: () => asked(`examples/${name}/client.ts`, []),
    stopped: async () => {
      house.kill("SIGTERM")
      const [code] = (await once(house, "exit")) as [number]
      return code
    },
  }
}
