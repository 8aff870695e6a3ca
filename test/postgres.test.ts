import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { once } from "node:events"
import { connect } from "node:net"
import { join } from "node:path"
import { expect, inject, it, vi } from "vitest"
import { askDatabase } from "../packages/server/test/stores.ts"

const answers = (url: string) =>
  new Promise<boolean>((done) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.once("connect", () => done(true)).once("error", () => done(false))
    socket.once("connect", () => socket.destroy())
  })

it("every test may use the Postgres of the run", async () => {
  await expect(askDatabase(inject("databaseUrl"), "SELECT 1")).resolves.toBeUndefined()
})

it("kill -9 of the runner leaves no Postgres and no data behind", async () => {
  const postgres = join(import.meta.dirname, "postgres.ts")
  const program = `const { url, data } = await (await import(${JSON.stringify(postgres)})).startPostgres()
console.log(JSON.stringify({ url, data })); setInterval(() => {}, 1000)`
  const runner = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [said] = (await once(runner.stdout, "data")) as [Buffer]
  const { url, data } = JSON.parse(said.toString()) as { url: string; data: string }
  expect(await answers(url)).toBe(true)
  runner.kill("SIGKILL")
  await vi.waitUntil(async () => !(await answers(url)) && !existsSync(data), { timeout: 60_000, interval: 50 })
})
