/** Runs from a terminal, against a real house: listed, shown, watched while they work, stopped, and tried again from a step. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ProcessResult, Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
const rules = (some: ReadonlyArray<object>) =>
  writeFileSync(join(home.folder, "rules.json"), JSON.stringify({ rules: some }))
const held = { name: "held", description: "Waits for a yes.", requiresApproval: true }
beforeAll(async () => {
  rules([])
  home.configure({
    models: { script: { provider: "scripted", rules: join(home.folder, "rules.json") } },
    tools: [
      { ...held, inputSchema: { type: "object" }, executionType: "internal", execution: { output: { ok: true } } },
    ],
  })
  house = await home.start()
  await house.admin.principals.add({ kind: "agent", name: "Jim" })
  await house.admin.agents.change("Jim", { model: "script" })
})
afterAll(() => home.remove())

const json = (ended: ProcessResult): Record<string, unknown> => {
  expect(ended).toMatchObject({ code: 0 })
  return JSON.parse(ended.stdout) as Record<string, unknown>
}
const start = async () => (await house.admin.agents.trigger("Jim", { text: "go" })).run
const decided = async () => {
  for (;;) {
    const [open] = (await house.admin.decisions.list({ state: "open" })).items
    if (open !== undefined) return house.admin.decisions.answer(open.id, { verdict: "approve" })
  }
}

it("watch follows a run live until it ends; ls, show and their JSON are the HTTP objects", async () => {
  rules([
    { when: { step: 1 }, say: "One moment.", call: [{ tool: "held" }] },
    { when: { step: 2 }, say: "It is held now,\u001b[2J and all is well." },
  ])
  const run = await start()
  const watching = home.spawn(["runs", "watch", run])
  // It says so while the run waits: nothing has ended yet.
  await watching.said(/is waiting_tool after 1 step\n/)
  expect((await home.stoa("runs", "show", run)).stdout).toMatch(/^1\. waits for (dcs_\S+): stoa decide \1$/m)
  await decided()
  // As its model says it, and nothing of it moves the cursor.
  await watching.said(/\nIt is held now,.+ and all is well\.\n[^]*is completed \(end_turn\) after 2 steps/)
  const watched = await watching.ended
  expect(watched.code).toBe(0)
  expect(watched.stdout).not.toContain("\u001b")
  expect(json(await home.stoa("runs", "show", run, "--json"))).toMatchObject({ id: run, state: "completed", step: 2 })
  expect((await home.stoa("runs", "show", run)).stdout).toMatch(/1\. One moment\.[^]*1\. held \{\} → done/)
  const listed = JSON.parse((await home.stoa("runs", "ls", "--agent", "Jim", "--json")).stdout) as Array<{ id: string }>
  expect(listed.map(({ id }) => id)).toEqual([run])
  // For people, with the agent's name.
  expect((await home.stoa("runs", "ls")).stdout).toMatch(new RegExp(`^id +agent +state.*\n${run} +Jim +completed`))
}, 120_000)

it("waits are shown by names, and as JSON they are the HTTP objects", async () => {
  rules([{ when: { step: 1 }, call: [{ tool: "send_message", input: { text: "@admin, well?", wait: true } }] }])
  const { admin } = house
  await admin.principals.add({ kind: "agent", name: "Wes", toolsets: ["gateway"] })
  await admin.agents.change("Wes", { model: "script" })
  await admin.spaces.add({ name: "quay", kind: "private", members: ["Wes"] })
  await admin.spaces.post("quay", { text: "@Wes, ask me." })
  await expect.poll(async () => (await admin.waits.list()).items.length).toBe(1)
  const { items } = await admin.waits.list()
  expect(JSON.parse((await home.stoa("runs", "waits", "--json")).stdout)).toEqual(JSON.parse(JSON.stringify(items)))
  expect((await home.stoa("runs", "waits")).stdout).toMatch(/ Wes .* admin \(awaited\)$/m)
}, 120_000)

it("retry goes on from a step and repeats no call before it; one that has not ended is refused", async () => {
  rules([
    { when: { step: 1 }, call: [{ tool: "whoami" }] },
    { when: { step: 2 }, fail: "no thought" },
  ])
  const failed = await start()
  const watched = home.spawn(["runs", "watch", failed])
  await watched.said(/is failed \(error\)[^]*no thought/)
  expect(await watched.ended).toMatchObject({ code: 1, stderr: `stoa: ${failed} has failed.\n` })
  rules([
    { when: { step: 1 }, call: [{ tool: "held" }] },
    { when: { step: 2 }, call: [{ tool: "list_spaces" }] },
  ])
  expect((await home.stoa("runs", "ls", "--state", "failed")).stdout).toMatch(/ failed +error: .*no thought/)
  await house.admin.principals.add({ kind: "agent", name: "Empty" })
  const blank =
    "Empty has no model to think with, so it does not answer. An admin can do this with: stoa agents set Empty --model MODEL\n"
  expect(await home.stoa("agents", "say", "Empty", "hello")).toMatchObject({ code: 0, stderr: blank })
  expect(await home.stoa("agents", "inspect", "Empty")).toMatchObject({ code: 0, stderr: blank })
  const again = json(await home.stoa("runs", "retry", failed, "--step", "2", "--json"))
  await home.spawn(["runs", "watch", String(again["id"])]).said(/is completed/)
  const { items } = await house.admin.runs.steps(String(again["id"]))
  // The first step is the old one's, the call with it; the second is new.
  expect(items.map(({ calls }) => calls.map(({ tool }) => tool))).toEqual([["whoami"], ["list_spaces"], []])
  expect((await house.admin.decisions.list({ state: "open" })).items).toEqual([])

  rules([{ when: { step: 1 }, call: [{ tool: "held" }] }])
  const waits = await start()
  await home.spawn(["runs", "watch", waits]).said(/is waiting_tool/)
  expect(await home.stoa("runs", "retry", waits)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/once it has ended/),
  })
  expect(json(await home.stoa("runs", "cancel", waits, "--json"))).toMatchObject({ state: "canceled" })
  expect(await home.stoa("runs", "cancel", waits)).toMatchObject({ code: 2 })
}, 120_000)
