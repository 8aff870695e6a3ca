/** Starts a real house on a free port and a folder of its own, runs the client against it, and asks for a clean end. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const data = mkdtempSync(join(tmpdir(), "first-webhook-"))
/** What this shell has set for a house of its own must not reach this one. */
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(STOA_|DATABASE_URL$)/.test(name)))

const run = (file: string, args: ReadonlyArray<string>, env: Record<string, string>): ChildProcess =>
  spawn(process.execPath, [join(root, file), ...args], {
    // Elsewhere than the checkout: a configuration file that lies there is not this house's.
    cwd: data,
    env: { ...clean, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })

/** Everything a process says, as it says it. */
const heard = (child: ChildProcess) => {
  const said = { text: "" }
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.text += text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.text += text))
  return said
}

let house: ChildProcess
let url = ""

beforeAll(async () => {
  const config = join(data, "stoa.config.json")
  writeFileSync(config, JSON.stringify({ egress: { allow: ["127.0.0.1"] } }))
  house = run("packages/cli/src/main.ts", ["serve"], {
    STOA_DATA: join(data, "house"),
    STOA_PORT: "0",
    STOA_CONFIG: config,
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

it("a service is asked, knows by whom, and answers later", async () => {
  const token = readFileSync(join(data, "house/admin.token"), "utf8")
  const client = run("examples/first-webhook/client.ts", [], { STOA_URL: url, STOA_TOKEN: token })
  const said = heard(client)
  const [code] = (await once(client, "close")) as [number]
  expect(said.text).toContain("1 job was done")
  expect(code).toBe(0)
})
