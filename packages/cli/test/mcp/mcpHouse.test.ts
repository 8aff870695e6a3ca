/** The house that the bridge starts itself, where another process has the folder without saying who it is. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { embed } from "@stoa/server"
import { expect, it } from "vitest"
import { House } from "../../src/mcp/house.ts"
import { Home } from "../kit/home.ts"

it("a folder whose owner is just leaving is waited for, and is no failure", async () => {
  const home = new Home()
  const umask = process.umask()
  mkdirSync(home.data, { recursive: true, mode: 0o700 })
  writeFileSync(join(home.data, "stoa.folder"), "")
  // As an owner that has removed its pid and not yet let go.
  const owner = new DatabaseSync(join(home.data, "lock"))
  owner.exec("BEGIN EXCLUSIVE")
  const refused: Array<string> = []
  const environment = { ...home.env, STOA_HOST: "127.0.0.1", STOA_PORT: "0" }
  const house = new House({
    target: () => {
      const running = existsSync(join(home.data, "address"))
      const url = running ? readFileSync(join(home.data, "address"), "utf8").trim() : "http://127.0.0.1:9"
      return { url, token: undefined, given: false, folder: home.data, running }
    },
    embed: async (stop, ready) => {
      try {
        await embed({ environment, ready, stop })
      } catch (cause) {
        refused.push(String(cause))
        owner.close()
        throw cause
      }
    },
    say: () => undefined,
  })
  try {
    expect((await house.find(60_000)).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(refused).toEqual([expect.stringContaining("already runs on")])
  } finally {
    await house.close()
    await home.remove()
    process.umask(umask)
  }
})
