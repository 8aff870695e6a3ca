/** Runs, agents and memory as people see them: a real house, a scripted model, Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, expect, it } from "vitest"
import { axeFindings } from "../kit/axe.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"

const folder = mkdtempSync(join(tmpdir(), "stoa-alive-"))
const rules = join(folder, "rules.json")
writeFileSync(
  rules,
  JSON.stringify({
    rules: [
      {
        when: { text: "ships", step: 1 },
        say: "I look at the **berths** first.",
        call: [
          { tool: "berths", input: { harbour: "Piraeus" } },
          { tool: "remember", input: { key: "ships", content: "Maya asks for ships." } },
          { tool: "send_mail", input: { to: ["orders@hansa.example"], subject: "48 hours late" } },
        ],
        usage: { in: 5210, out: 284 },
      },
      {
        when: { text: "ships", tool: "send_mail", outcome: "done" },
        call: [{ tool: "post_message", input: { space: "{{space}}", text: "Three customers know." } }],
        usage: { in: 6210, out: 328 },
      },
      {
        when: { text: "berth free", step: 1 },
        call: [{ tool: "send_message", input: { text: "@Rhea which berth?", wait: true } }],
      },
      { when: { text: "break", step: 1 }, fail: "it fell over" },
      {
        when: { text: "hello", step: 1 },
        call: [{ tool: "post_message", input: { space: "{{space}}", text: "Good morning." } }],
      },
    ],
  }),
)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tool = (name: string, output: object, more: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object", properties: {} },
  executionType: "internal",
  execution: { output },
  ...more,
})

const { admin, as, kill, person, restart, consoleLines, signIn, visitor } = houseInBrowser({
  configuration: {
    models: { demo: { provider: "scripted", rules, price: { in: 3, out: 15 } } },
    tools: [
      tool(
        "berths",
        { berths: ["7", "8"] },
        {
          executionType: "gateway",
          execution: { operation: "evaluate", expression: "7 + 1" },
        },
      ),
      tool("send_mail", { sent: 3 }, { requiresApproval: true, riskLevel: "high" }),
    ],
  },
})

const shots = process.env["STOA_SHOTS"]
const shot = async (page: Page, name: string) => {
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) })
}

const clean = async (page: Page) => expect(await axeFindings(page)).toEqual([])

/** An agent that thinks with the scripted model, in a space of its own with the one who asks. */
const scoutIn = async (name: string, space: string, members: ReadonlyArray<string>) => {
  const made = await admin().principals.add({ kind: "agent", name, roles: ["agent-standard"] })
  await admin().agents.change(name, { model: "demo", persona: `You are ${name}.`, limits: { steps: 12, cost: 0.5 } })
  await admin().spaces.add({ name: space, kind: "private", members: [...members, made.id] })
  return made
}

it("a run is followed live from its first step to its end, waits for a person, and leads back to what woke it", async () => {
  const maya = await person("Maya", ["admin"])
  await scoutIn("scout", "harbour", [maya.id])
  const { page } = await visitor()
  await signIn(page, maya.token, "/runs")
  await page.getByText("No runs yet.").waitFor()
  await clean(page)

  await admin().spaces.post("harbour", { text: "Where are our ships, @scout?" })
  const row = page.getByRole("region", { name: "Live" }).getByRole("row", { name: /scout/ })
  await row.getByText("waiting").waitFor()
  await shot(page, "runs-wide")
  await clean(page)
  await row.getByRole("link").click()

  const grid = page.getByRole("treegrid")
  await grid.getByRole("row", { name: /send_mail/ }).waitFor()
  await grid.getByRole("row", { name: /Decision/ }).waitFor()
  expect(await grid.getByRole("row", { name: /Step 1/ }).count()).toBe(1)
  await page.getByRole("complementary", { name: "Details of send_mail" }).getByText("Needs a decision").waitFor()
  await shot(page, "run-wide")
  await clean(page)
  // Arrows walk, left closes, Enter shows.
  const step = grid.getByRole("row", { name: /Step 1/ })
  await step.focus()
  await page.keyboard.press("ArrowLeft")
  await grid.getByRole("row", { name: /berths/ }).waitFor({ state: "detached" })
  await page.keyboard.press("ArrowRight")
  await grid.getByRole("row", { name: /berths/ }).waitFor()
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.getByRole("tab", { name: "Model answer" }).waitFor()
  await page.getByText("I look at the").waitFor()
  await page.getByRole("tab", { name: "Prompt" }).click()
  await page.getByText("System").waitFor()

  const [open] = (await admin().decisions.list({ state: "open" })).items
  // The inbox leads back to the step that asked.
  const inbox = await visitor()
  await signIn(inbox.page, maya.token, `/decisions/${open!.id}`)
  await inbox.page.getByRole("link", { name: "Run, step 1" }).click()
  await inbox.page.getByRole("complementary", { name: "Details of send_mail" }).waitFor()
  await inbox.context.close()
  await admin().decisions.answer(open!.id, { verdict: "approve" })
  await grid.getByRole("row", { name: /post_message/ }).waitFor()
  await page.locator(".bar").getByText("done").waitFor()
  await page.locator(".facts").getByRole("link", { name: /admin/ }).click()
  await page.waitForURL(/\/s\/harbour/)

  // From a call in the space to its step.
  await page.getByText("berths").first().click()
  await page.getByRole("link", { name: "Step 1 of the run" }).first().click()
  await page.waitForURL(/\/runs\/.*span=s1c1/)
  expect(consoleLines).toEqual([])
}, 90_000)

it("a run that failed says why, is tried again, and is read on a phone by night", async () => {
  const jo = await person("Jo", ["admin"])
  await scoutIn("herald", "pier", [jo.id])
  const { page } = await visitor(phone, { colorScheme: "dark" })
  await signIn(page, jo.token, "/runs")
  await admin().spaces.post("pier", { text: "Please break, @herald" })
  await page
    .getByRole("row", { name: /herald/ })
    .getByText("failed")
    .waitFor()
  await shot(page, "runs-phone")
  await clean(page)
  await page
    .getByRole("row", { name: /herald/ })
    .getByRole("link")
    .click()
  await page.getByText(/it fell over/).waitFor()
  await shot(page, "run-phone")
  await clean(page)
  const first = page.url()
  await page.getByRole("button", { name: "Retry", exact: true }).click()
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith("/runs/run_"))
  await page.getByText("Retry of").waitFor()
  expect(consoleLines).toEqual([])
}, 90_000)

it("a wait for a reply lives through a kill, and is drawn as a wait when it is over, also after a restart", async () => {
  const rhea = await person("Rhea", ["admin"])
  const made = await scoutIn("warden", "quay", [rhea.id])
  await admin().principals.change(made.id, { toolsets: ["gateway"] })
  const { page } = await visitor()
  await signIn(page, rhea.token, "/runs")
  await admin().spaces.post("quay", { text: "Is a berth free, @warden?" })
  await page.getByRole("region", { name: "Who waits for whom" }).getByText("warden is waiting for Rhea").waitFor()
  await clean(page)
  await page
    .getByRole("region", { name: "Live" })
    .getByRole("link", { name: /berth free/ })
    .click()
  const grid = page.getByRole("treegrid")
  await grid.getByRole("row", { name: /Waiting for Rhea/ }).waitFor()
  await page.getByRole("button", { name: "Release the wait" }).waitFor()
  await kill()
  await restart()
  await as(rhea.token).spaces.post("quay", { text: "Berth 9." })
  const over = grid.getByRole("row", { name: /Waited for Rhea answered/ })
  await over.waitFor()
  await page.locator(".bar").getByText("done").waitFor()
  await over.locator(".hatch").waitFor()
  await over.click()
  await page.getByRole("complementary").getByText("Rhea answered").waitFor()
  await shot(page, "run-waited")
  await clean(page)
  await kill()
  await restart()
  await page.reload()
  await over.locator(".hatch").waitFor()
  await page.getByRole("link", { name: "real time scale" }).click()
  await page.getByRole("link", { name: "hide waiting time" }).waitFor()
  await over.locator(".hatch").waitFor()
  // On a phone too one goes on from a step; what the steps before it waited for comes along.
  const small = await visitor(phone, { colorScheme: "dark" })
  await signIn(small.page, rhea.token, new URL(page.url()).pathname)
  await small.page
    .getByRole("row", { name: /Model call/ })
    .last()
    .click()
  await small.page.getByText("It said nothing and called nothing.").waitFor()
  await shot(small.page, "run-waited-phone")
  await clean(small.page)
  await small.page.getByRole("button", { name: "Retry from step 2" }).click()
  await small.page.getByText("Retry of").waitFor()
  await small.page
    .getByRole("row", { name: /Waited for Rhea/ })
    .locator(".hatch")
    .waitFor()
  expect(consoleLines).toEqual([])
}, 120_000)

it("a run that nobody may see is said to be nothing", async () => {
  const kim = await person("Kim")
  const { page } = await visitor()
  await signIn(page, kim.token, "/runs/run_01980000-0000-7000-8000-000000000000")
  await page.getByText("Nothing here that you can see.").waitFor()
  await clean(page)
  expect(consoleLines).toEqual([])
})

it("an agent is made, answers on the same screen, is looked into, and stopped with a reason", async () => {
  const ida = await person("Ida", ["admin"])
  const { page } = await visitor()
  await signIn(page, ida.token, "/agents")
  await page.getByRole("button", { name: "New agent" }).click()
  await page.getByLabel("Name Letters").fill("purser")
  await page.getByLabel("Who it is").fill("You count the crates.")
  await page.getByLabel("Model").selectOption("demo")
  await page.getByLabel("Dollars per day").fill("2")
  await page.getByText("purser thinks with demo").waitFor()
  await clean(page)
  await page.getByRole("button", { name: "Make it" }).click()

  await page.getByRole("textbox", { name: "Say something to purser" }).fill("hello")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByRole("log").getByText("Good morning.").waitFor()
  await shot(page, "agents-talk")
  await page.getByRole("tab", { name: "Prompt" }).click()
  await page.getByText("What the model would see now").waitFor()
  await page.locator(".agents-parts summary").first().waitFor()
  // By part in tokens, said to be an estimate, of what the model can be told; the tools are a part too.
  await page.getByText(/^about [\d,]+ of 100,000 tokens$/).waitFor()
  await page.getByText("estimated from its letters").waitFor()
  const tools = page.locator(".agents-parts summary").filter({ hasText: /\d+ tools/ })
  expect(Number((await tools.locator(".end").innerText()).replaceAll(",", ""))).toBeGreaterThan(100)
  await tools.click()
  await page.locator(".agents-parts pre").getByText("send_mail").waitFor()
  await shot(page, "agents-wide")
  await clean(page)
  await page.getByRole("tab", { name: "Tools" }).click()
  await page.getByText("send_mail", { exact: true }).waitFor()
  await clean(page)
  await page.getByRole("tab", { name: "Runs" }).click()
  await page.getByRole("link", { name: /hello/ }).first().waitFor()

  await page.getByRole("switch", { name: "purser" }).click()
  await page.getByRole("textbox", { name: "Reason" }).fill("it counts twice")
  await page.getByRole("button", { name: "Pause it" }).click()
  await page.getByText("it counts twice").waitFor()
  expect((await admin().pauses.list()).items.map(({ subject }) => subject)).toContain("agents/purser")
  await clean(page)
  await page.getByRole("button", { name: "Lift the pause" }).click()
  await page.getByText("it counts twice").waitFor({ state: "detached" })
  expect(consoleLines).toEqual([])
}, 90_000)

it("two people edit one record, and neither text is lost", async () => {
  const una = await person("Una")
  const eve = await person("Eve")
  const mine = as(una.token)
  const record = await mine.memory.put({ kind: "block", key: "harbour", content: "Berth 7.\nThe gate opens at 05:30." })
  await mine.memory.share(record.id, eve.id, { right: "write" })
  await as(eve.token).memory.answer(record.id, { taken: true })
  await mine.memory.put({ kind: "note", key: "Meltemi", content: "The Meltemi is late: engine trouble off Kythira." })

  const { page } = await visitor()
  await signIn(page, una.token, "/memory")
  await page.getByRole("link", { name: /harbour/ }).click()
  await page.getByRole("button", { name: "Edit" }).click()
  await page.getByLabel("Text").fill("Berth 8.\nThe gate opens at 05:30.")
  await as(eve.token).memory.change(record.id, { content: "Berth 9.\nThe gate opens at 05:30." })
  await page.getByText("Somebody has saved version 2 meanwhile").waitFor()
  await page.getByRole("button", { name: "Save" }).click()
  const met = page.getByRole("alert")
  await met.getByText("Somebody changed it while you edited.").waitFor()
  await met.getByText("Berth 9.").waitFor()
  await met.getByText("Berth 8.").waitFor()
  await met.getByText("Berth 7.").waitFor()
  await shot(page, "memory-three")
  await clean(page)
  expect(await page.getByRole("button", { name: "Save mine over it" }).isDisabled()).toBe(true)
  await page.getByLabel("I have read it").check()
  await page.getByRole("button", { name: "Save mine over it" }).click()
  await page.getByText("What version 3 changed").waitFor()
  expect((await mine.memory.get(record.id)).content).toContain("Berth 8.")
  await page.locator(".diff .del").getByText("Berth").waitFor()
  await shot(page, "memory-wide")
  await clean(page)
  await page.getByRole("button", { name: "Revert to 2" }).click()
  await page.getByRole("button", { name: "Revert to 2" }).last().click()
  await page.getByText("What version 4 changed").waitFor()
  expect((await mine.memory.get(record.id)).content).toContain("Berth 9.")
  await page.getByRole("button", { name: "Pin", exact: true }).click()
  await page.getByText("pinned", { exact: true }).waitFor()

  // Who may write to it may revert it, too; everything else is for its owner.
  const other = await visitor()
  await signIn(other.page, eve.token, `/memory/${record.id}?version=1`)
  await other.page.getByRole("button", { name: "Edit" }).waitFor()
  await other.page.getByRole("button", { name: "Revert to" }).click()
  await other.page.getByRole("button", { name: "Revert to" }).last().click()
  await expect.poll(async () => (await mine.memory.get(record.id)).origin.principal).toBe(eve.id)
  expect(await other.page.getByRole("button", { name: /Share|Unpin|Delete/ }).count()).toBe(0)

  // A search says why it found what it found.
  await page.getByRole("searchbox", { name: "Search memory" }).fill("engine trouble")
  await page
    .getByRole("link", { name: /Meltemi/ })
    .getByText(/says .*engine/)
    .waitFor()
  await shot(page, "memory-search")
  await clean(page)
  expect(consoleLines).toEqual([])
}, 90_000)

it("a block is edited beside its place in the prompt of the agent it is shared with", async () => {
  const ola = await person("Ola", ["admin"])
  const made = await scoutIn("pilot", "basin", [ola.id])
  const { page } = await visitor()
  await signIn(page, ola.token, "/memory?open=new")
  await page.getByLabel("Name under").fill("tides")
  await page.getByLabel("Kind a word").fill("block")
  await page.getByLabel("Text").fill("High water at noon.")
  await page.getByRole("button", { name: "Remember it" }).click()
  await page.locator(".memory-text").getByText("High water at noon.").waitFor()
  await page.getByRole("button", { name: "Share", exact: true }).click()
  await page.getByLabel("With whom").selectOption({ label: "pilot" })
  await page.getByRole("button", { name: "Share it" }).click()
  await page.getByText("part of every prompt of pilot").waitFor()
  await page.getByRole("button", { name: "Edit" }).click()
  const told = page.getByRole("region", { name: "What pilot is told" })
  await told.getByText("Shared with you by Ola").waitFor()
  await page.getByLabel("Text").fill("High water at one.")
  await told.locator("mark").getByText("High water at one.").waitFor()
  await told.getByText(/about \d+ of [\d,]+ tokens/).waitFor()
  await shot(page, "memory-prompt")
  await clean(page)
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByText("What version 2 changed").waitFor()
  expect((await admin().agents.prompt(made.id)).text).toContain("High water at one.")
  expect(consoleLines).toEqual([])
}, 60_000)

it("a record is shared with one and made public, seen by them alone, and taken back", async () => {
  const ulf = await person("Ulf")
  const ida = await person("Tyra")
  const pilot = { kind: "note", key: "pilot", content: "Nikos, Monday to Friday." }
  const { id } = await as(ulf.token).memory.put(pilot)
  const { page } = await visitor()
  await signIn(page, ulf.token, "/memory")
  // Where there is room, the first is shown at once.
  await page.locator(".memory-text").getByText("Nikos").waitFor()
  await page.getByRole("button", { name: "Share", exact: true }).click()
  await page.getByLabel("With whom").selectOption({ label: "Tyra" })
  await clean(page)
  await page.getByRole("button", { name: "Share it" }).click()
  await page.getByText("shared with Tyra").waitFor()
  await as(ida.token).memory.answer(id, { taken: true })

  const other = await visitor()
  await signIn(other.page, ida.token, "/memory?owner=Ulf")
  await other.page.getByRole("link", { name: /pilot/ }).waitFor()
  await other.page.locator(".memory-text").getByText("Nikos").waitFor()
  // What is its owner's to do is not drawn for others.
  expect(await other.page.getByRole("button", { name: "Share", exact: true }).count()).toBe(0)

  await page.getByRole("button", { name: "Share", exact: true }).click()
  await page.getByRole("button", { name: "Stop sharing with Tyra" }).click()
  await page.getByText("shared with Tyra").waitFor({ state: "detached" })
  await other.page.reload()
  await other.page.getByText("Ulf has made nothing public and shared nothing with you.").waitFor()
  await page.getByRole("button", { name: "Make public" }).click()
  await page.getByText("public", { exact: true }).waitFor()
  await other.page.reload()
  await other.page.locator(".memory-text").getByText("Nikos").waitFor()
  expect(consoleLines).toEqual([])
}, 60_000)

it("what the house writes in a memory is not offered to be changed: a chat session is only pinned and shared", async () => {
  const ove = await person("Ove")
  const mine = as(ove.token)
  await mine.chatSessions.add({ agent: "hecate", title: "Tides" })
  const { page } = await visitor()
  await signIn(page, ove.token, "/memory")
  for (const [name, says] of [
    [/^chat\.session\./, "It changes as you talk"],
    [/^hecate\.session/, "It changes when another is chosen"],
  ] as const) {
    await page.getByRole("link", { name }).click()
    await page.getByText(says).waitFor()
    await page.getByRole("button", { name: "Pin", exact: true }).waitFor()
    await page.getByRole("button", { name: "Share", exact: true }).waitFor()
    for (const button of ["Edit", "Delete", "Make public", "Expires on"])
      await page.getByRole("button", { name: button, exact: true }).waitFor({ state: "detached" })
  }
  await clean(page)
  await shot(page, "memory-session")
  await page.getByRole("button", { name: "Pin", exact: true }).click()
  await page.getByText("pinned", { exact: true }).waitFor()
  // A record of one's own has them all.
  await mine.memory.put({ kind: "note", key: "mine", content: "High water at noon." })
  await page.getByRole("link", { name: /^mine/ }).click()
  for (const button of ["Edit", "Delete", "Make public", "Expires on"])
    await page.getByRole("button", { name: button, exact: true }).waitFor()
  expect(consoleLines).toEqual([])
}, 60_000)

it("memory is carried out, erased with one's name, and brought in again, on a phone by night too", async () => {
  const ned = await person("Ned")
  const mine = as(ned.token)
  await mine.memory.put({ kind: "note", key: "berth", content: "Seven." })
  const { page } = await visitor()
  await signIn(page, ned.token, "/memory?open=keep")
  const coming = page.waitForEvent("download")
  await page.getByRole("button", { name: "Export", exact: true }).click()
  const file = join(folder, "ned.jsonl")
  await (await coming).saveAs(file)
  await page.getByRole("button", { name: "Erase everything" }).click()
  await page.getByLabel(/1 record of yours/).fill("Ned")
  await clean(page)
  await page.getByRole("button", { name: "Erase it all" }).click()
  await page.getByText("1 record erased.").waitFor()
  await page.getByText("Nothing is remembered here yet.").waitFor()
  await page.getByLabel("Import", { exact: true }).setInputFiles(file)
  await page.getByRole("button", { name: "Import it" }).click()
  await page.getByText("1 written").waitFor()
  await page.getByRole("link", { name: /berth/ }).waitFor()

  const small = await visitor(phone, { colorScheme: "dark" })
  await signIn(small.page, ned.token, "/memory")
  await clean(small.page)
  await small.page.getByRole("link", { name: /berth/ }).click()
  await small.page.locator(".memory-text").getByText("Seven.").waitFor()
  await shot(small.page, "memory-phone")
  await clean(small.page)
  expect(consoleLines).toEqual([])
}, 90_000)

it("G-35 what others offer is counted, shown as their text, and taken or declined, page by page", async () => {
  const zoe = await person("Zoe")
  const [uta, rolf] = [await person("Uta"), await person("Rolf")]
  const { page } = await visitor()
  await signIn(page, zoe.token, "/memory?open=offers")
  await page.getByText("Nobody offers you anything.").waitFor()
  await clean(page)
  const memoryEntry = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /^Memory/ })
  expect(await memoryEntry.innerText()).toBe("Memory")

  const offer = async (from: typeof uta, key: string, content: string, to: string) => {
    const { id } = await as(from.token).memory.put({ kind: "note", key, content })
    await as(from.token).memory.share(id, to, { right: "read" })
    return id
  }
  const attack = "# Obey\n![](https://outside.example/x.png) [sign in](https://outside.example)"
  const first = await offer(uta, "tides", attack, zoe.id)
  const offers = page.getByRole("region", { name: "Offered to you" })
  const item = offers.getByRole("listitem", { name: "tides, offered by Uta" })
  // In another's words nothing is a heading, a link or a picture.
  expect(await item.locator("pre").innerText()).toBe(attack)
  expect(await item.locator("pre *, a, img").count()).toBe(0)
  await expect.poll(() => memoryEntry.innerText()).toContain("1 offer waits for an answer")
  await shot(page, "memory-offer")
  await clean(page)
  await item.getByRole("button", { name: "Take tides of Uta" }).click()
  await page.getByText("Nobody offers you anything.").waitFor()
  expect((await as(zoe.token).memory.shares(first)).items[0]).toMatchObject({ state: "taken" })
  expect(await memoryEntry.innerText()).toBe("Memory")

  // More than one page of them: no offer twice, and none missing.
  for (let n = 0; n < 20; n++) await offer(uta, `u${n}`, `Note ${n}.`, zoe.id)
  await offer(rolf, "long", "x".repeat(2500), zoe.id)
  const small = await visitor(phone, { colorScheme: "dark" })
  await signIn(small.page, zoe.token, "/house")
  const entry = small.page.getByRole("link", { name: /^Memory/ })
  await expect.poll(() => entry.innerText()).toContain("21")
  await entry.click()
  await small.page.getByRole("link", { name: /^Offered to you/ }).click()
  const listed = small.page.getByRole("region", { name: "Offered to you" })
  await listed.getByText("500 more characters are not shown").waitFor()
  expect(await listed.getByRole("listitem").count()).toBe(20)
  await listed.locator(".count").getByText("21").waitFor()
  expect(await small.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  await shot(small.page, "memory-offers-phone")
  await clean(small.page)
  await listed.getByRole("button", { name: "Show more offers" }).click()
  await expect.poll(() => listed.getByRole("listitem").count()).toBe(21)
  await listed.getByRole("button", { name: "Decline long of Rolf" }).click()
  await listed.locator(".count").getByText("20").waitFor()
  await listed.getByText("500 more characters are not shown").waitFor({ state: "detached" })
  expect((await as(zoe.token).memory.offers({ state: "declined" })).items).toMatchObject([{ key: "long" }])
  expect(consoleLines).toEqual([])
}, 120_000)

it("G-35 an agent's owner and admins answer what it is offered, in its memory pane; nobody else sees it there", async () => {
  const [lea, mia] = [await person("Lea"), await person("Mia")]
  const made = await admin().principals.add({ kind: "agent", name: "gull", roles: ["agent-standard"], owner: lea.id })
  const { page } = await visitor()
  await signIn(page, lea.token, "/agents/gull?tab=memory")
  await page.getByRole("tab", { name: "Memory", selected: true }).waitFor()
  const notes: Array<string> = []
  for (const key of ["rocks", "shoals"]) {
    const { id } = await as(mia.token).memory.put({ kind: "note", key, content: `Beware of the ${key}.` })
    await as(mia.token).memory.share(id, made.id, { right: "read" })
    notes.push(id)
  }
  // Its owner hears of it at once, and is led to it.
  await page.getByRole("link", { name: /^Memory.*2 offers wait for an answer/ }).click()
  await page.getByRole("link", { name: "Offered to gull 2" }).click()
  const offers = page.getByRole("region", { name: "Offered to gull" })
  await offers.getByText("Beware of the rocks.").waitFor()
  await shot(page, "agent-offers")
  await clean(page)
  await offers.getByRole("button", { name: "Take rocks of Mia" }).click()
  await offers.getByText("Beware of the rocks.").waitFor({ state: "detached" })
  // Mia sees what she offered, but does not answer for the agent.
  const other = await visitor()
  await signIn(other.page, mia.token, "/agents/gull?tab=memory")
  await other.page.getByRole("tab", { name: "Memory", selected: true }).waitFor()
  await other.page.getByRole("tabpanel").getByRole("link", { name: "Open its memory" }).waitFor()
  expect(await other.page.getByRole("region", { name: "Offered to gull" }).count()).toBe(0)
  const kim = await person("Kaj", ["admin"])
  const third = await visitor(phone)
  await signIn(third.page, kim.token, "/agents/gull?tab=memory")
  const theirs = third.page.getByRole("region", { name: "Offered to gull" })
  await theirs.getByRole("button", { name: "Decline shoals of Mia" }).click()
  await theirs.waitFor({ state: "detached" })
  await clean(third.page)
  await offers.waitFor({ state: "detached" })
  const states = await Promise.all(notes.map(async (id) => (await as(mia.token).memory.shares(id)).items[0]?.state))
  expect(states).toEqual(["taken", "declined"])
  expect(consoleLines).toEqual([])
}, 120_000)
