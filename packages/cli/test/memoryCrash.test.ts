/** kill -9 in the middle: an import is whole or can be done again, an erasure goes on by itself, a plan is due once. */
import { afterAll, expect, it } from "vitest"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Home, type House } from "./houseProcess.ts"

const home = new Home()
afterAll(() => home.remove())

const countOf = async (house: House): Promise<number> =>
  (await house.admin.memory.erase({ confirm: "admin", dryRun: true })).erased

/** Until it is so, or the test's time is over. */
const until = async (so: () => Promise<boolean>): Promise<void> => {
  while (!(await so())) await new Promise((next) => setImmediate(next))
}

it("G-21 S1-60 kill -9 during import and erase loses nothing and leaves nothing half; a plan that was due meanwhile fires once", async () => {
  let house = await home.start()
  const lines = Array.from({ length: 600 }, (_, n) => ({
    kind: "note",
    key: `talk/${n}`,
    content: `turn ${n} of many`,
  }))
  for (let from = 0; from < lines.length; from += 200)
    await house.admin.memory.import({ lines: lines.slice(from, from + 200) })
  const file = join(home.folder, "mine.jsonl")
  expect(await home.stoa("memory", "export", file)).toMatchObject({ code: 0 })
  const before = readFileSync(file, "utf8")
  expect(before.split("\n")).toHaveLength(601)

  // Erased to a part when it is killed; the next start goes on.
  const erasing = house.admin.memory.erase({ confirm: "admin" }).catch(() => undefined)
  await until(async () => (await countOf(house)) < 600)
  await house.kill()
  await erasing
  house = await home.restart(house)
  await until(async () => (await countOf(house)) === 0)

  // Imported to a part when it is killed; done again it is whole.
  const importing = home.stoa("memory", "import", file)
  await until(async () => (await countOf(house)) > 0)
  await house.kill()
  await importing
  house = await home.restart(house)
  expect((await countOf(house)) % 200).toBe(0)
  expect(await home.stoa("memory", "import", file)).toMatchObject({ code: 0 })
  expect(await home.stoa("memory", "export", file)).toMatchObject({ code: 0 })
  expect(readFileSync(file, "utf8")).toBe(before)

  // Due while there is no house.
  const { admin } = house
  await admin.principals.add({ kind: "agent", name: "planner", toolsets: ["gateway"] })
  const { token } = await admin.tokens.add({ principal: "planner" })
  const plan = { name: "soon", instruction: "look", runAfter: "1 second" }
  const answer = await fetch(new URL("/api/v1/tools/set_plans/call", house.url), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ input: { plans: [plan] } }),
  })
  expect(await answer.json()).toMatchObject({ state: "done" })
  await house.kill()
  house = await home.restart(house)
  const fired: Array<unknown> = []
  const seen = new AbortController()
  for await (const item of house.admin.feed({ after: 0, signal: seen.signal }))
    if (item.type === "event" && item.name === "timer.fired" && JSON.stringify(item.event).includes('"plan"')) {
      fired.push(item.event)
      break
    }
  await house.kill()
  house = await home.restart(house)
  const mark = await house.admin.memory.put({ kind: "note", key: "mark", content: "x" })
  for await (const item of house.admin.feed({ after: 0 })) {
    if (item.type !== "event") continue
    const told = JSON.stringify(item.event)
    if (item.name === "timer.fired" && told.includes('"purpose":"plan"')) fired.push(told)
    if (told.includes(mark.id)) break
  }
  // Once when it was awaited, and the same once when all was read again.
  expect(fired).toHaveLength(2)
}, 400_000)

it("memory goes into a folder of Markdown files, is edited there, and comes back", async () => {
  const folder = join(home.folder, "notes")
  const house = await home.start({ STOA_DATA: join(home.folder, "other") }).catch(() => undefined)
  expect(house).toBeDefined()
  const run = (...args: ReadonlyArray<string>) =>
    home.stoa(
      ...args,
      "--url",
      house!.url,
      "--token",
      readFileSync(join(home.folder, "other/admin.token"), "utf8").trim(),
    )
  expect(await run("memory", "set", "trip/../../plan", "by train\non Friday")).toMatchObject({ code: 0 })
  const { id } = JSON.parse((await run("memory", "ls", "--json")).stdout)[0] as { readonly id: string }
  expect(await run("memory", "export", folder, "--markdown")).toMatchObject({ code: 0 })
  const file = join(folder, `stoa/note/trip-plan--${id.slice(-12)}.md`)
  expect(existsSync(file)).toBe(true)
  expect(await run("memory", "import", folder)).toMatchObject({ stdout: "0 written, 1 were there already\n" })
  writeFileSync(file, readFileSync(file, "utf8").replace("Friday", "Saturday"))
  writeFileSync(join(folder, "by hand.md"), "a note without particulars\n")
  expect(await run("memory", "import", folder)).toMatchObject({ stdout: "2 written, 0 were there already\n" })
  expect((await run("memory", "diff", id)).stdout).toBe("  by train\n- on Friday\n+ on Saturday\n")
  expect((await run("memory", "search", "particulars", "--json")).stdout).toContain('"key":"by hand"')
  const asked = await run("memory", "erase")
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/2 records of admin would be erased/) })
  expect(await run("memory", "erase", "--confirm", "admin")).toMatchObject({
    code: 0,
    stdout: "2 records are erased\n",
  })
  await house!.kill()
}, 300_000)
