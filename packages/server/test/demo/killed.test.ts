/** A house that is killed while it makes its demo, by real processes: the next start goes on, and nothing is made twice. */
import { rmSync } from "node:fs"
import { afterAll, expect, it } from "vitest"
import { pause } from "../../../../test/pause.ts"
import { Home, type House } from "../../../cli/test/kit/home.ts"

const home = new Home({ STOA_CONFIG: "stoa.config.json" })
rmSync(home.config)
afterAll(() => home.remove())

const until = async (house: House, so: (admin: House["admin"]) => Promise<boolean>): Promise<void> => {
  while (!(await so(house.admin))) await pause()
}

it("is made whole and once, however often its house is killed meanwhile", { timeout: 180_000 }, async () => {
  const first = await home.start()
  await until(first, async (admin) => (await admin.demo.get()).state === "on")
  await first.kill()
  const second = await home.start()
  await until(second, async (admin) => (await admin.runs.list()).items.length > 0)
  await second.kill()
  const third = await home.start()
  await until(third, async (admin) =>
    (await admin.decisions.list({ state: "open" })).items.some(({ call }) => call?.tool === "order"),
  )
  const { items: runs } = await third.admin.runs.list({ limit: 100 })
  expect(runs.filter(({ trigger }) => trigger.kind === "service")).toHaveLength(1)
  const { parts } = await third.admin.demo.get()
  expect(parts.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    ...new Set(parts.map((p) => `${p.kind} ${p.name}`)),
  ])
  expect((await third.admin.principals.agents()).items).toHaveLength(4)
  expect((await third.admin.tools.list({ limit: 100 })).items.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["total", "order", "lunch", "research"]),
  )
  const listed = await home.stoa("demo", "ls", "--json")
  expect(listed.code).toBe(0)
  expect(JSON.parse(listed.stdout)).toMatchObject({ state: "on", model: "scripted", budget: { perDay: 1 } })
  // Killed amid its removal it goes on going.
  void third.admin.demo.remove().catch(() => undefined)
  await until(third, async (admin) => (await admin.demo.get()).state !== "on")
  await third.kill()
  const last = await home.start()
  await until(last, async (admin) => (await admin.demo.get()).state === "removed")
  expect((await last.admin.principals.agents()).items).toEqual([])
  expect((await last.admin.mcpServers.list()).items).toEqual([])
  await last.stop()
})

it("is not made with STOA_DEMO=off, nor beside a configuration file, nor later", { timeout: 120_000 }, async () => {
  const other = new Home({ STOA_CONFIG: "stoa.config.json" })
  try {
    rmSync(other.config)
    const off = await other.start({ STOA_DEMO: "off" })
    expect((await off.admin.demo.get()).state).toBe("none")
    await off.stop()
    const later = await other.start()
    await later.stop()
    other.configure({})
    const configured = await other.start()
    expect((await configured.admin.demo.get()).state).toBe("none")
    expect((await other.stoa("demo", "rm")).code).not.toBe(0)
    await configured.stop()
  } finally {
    await other.remove()
  }
})
