/** A team from a file, as somebody makes it who mistypes: nothing is half made, and the next try works. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Home, type House } from "../kit/home.ts"

const home = new Home({ STOA_DEMO: "off" })
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())

const file = join(home.folder, "team.json")
const make = (team: unknown) => {
  writeFileSync(file, JSON.stringify(team))
  return home.stoa("team", file)
}
const names = async () => (await house.admin.agents.tree()).items.map(({ name }) => name)

const lead = { name: "lead", instructions: "You lead." }
const worker = { name: "worker", instructions: "You work." }

it("a file that describes no team says what is wrong with it, by its place, and makes nobody", async () => {
  for (const [team, fault] of [
    [{}, /name: is missing/],
    [{ ...lead, childs: [] }, /childs: /],
    [{ ...lead, children: { worker } }, /children: /],
    [{ ...lead, children: [{ ...worker, role: "boss" }] }, /children\.0\.role: /],
    [{ ...lead, thinker: { kind: "program", program: "nope" } }, /thinker\.program: /],
  ] as const) {
    const ended = await make(team)
    expect(ended.code).toBe(2)
    expect(ended.stderr).toMatch(fault)
  }
  expect(await names()).toEqual([])
}, 120_000)

it("what the house refuses halfway is taken back, so that the file can be mended and tried again", async () => {
  const ended = await make({ ...lead, children: [worker, { ...worker, children: [] }] })
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("your child is called worker") })
  expect(await names()).toEqual([])
  const made = await make({ ...lead, children: [{ ...worker, children: [{ ...worker, name: "helper" }] }] })
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("2 agents work for lead") })
  expect(await names()).toEqual(["lead", "worker", "helper"])
  const one = await make({ ...lead, name: "second", children: [{ ...worker, name: "only" }] })
  expect(one).toMatchObject({ code: 0, stderr: expect.stringContaining("1 agent works for second") })
  await home.stoa("agents", "stop", "only", "--remove")
  await home.stoa("agents", "stop", "second", "--remove")
  // One that is there already stays.
  expect((await make(lead)).code).toBe(2)
  expect(await names()).toEqual(["lead", "worker", "helper"])
}, 120_000)
