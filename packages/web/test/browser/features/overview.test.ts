/** Overview, the team, limits, and what one can do to a run: a real house, a scripted model, Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, expect, it } from "vitest"
import { axeFindings } from "../kit/axe.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"

const folder = mkdtempSync(join(tmpdir(), "stoa-overview-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const rules = join(folder, "rules.json")
const post = (text: string) => ({ tool: "post_message", input: { space: "{{space}}", text } })
writeFileSync(
  rules,
  JSON.stringify({
    rules: [
      { when: { text: "sail", step: 1 }, call: [{ tool: "ask_first", input: {} }], usage: { in: 1000, out: 100 } },
      { when: { text: "sail", tool: "ask_first", outcome: "done" }, call: [post("We sail.")] },
      { when: { text: "twice", step: 1 }, call: [post("Once.")] },
      { when: { text: "twice", step: 2 }, fail: "it fell over" },
      { when: { text: "spend", step: 1 }, call: [post("Spent.")], usage: { in: 300_000, out: 100 } },
      {
        when: { text: "wait", step: 1 },
        call: [{ tool: "send_message", input: { text: "@Ole agreed?", wait: true } }],
      },
    ],
  }),
)

const { admin, kill, person, restart, consoleLines, signIn, visitor } = houseInBrowser({
  configuration: {
    models: { demo: { provider: "scripted", rules, price: { in: 3, out: 15 } } },
    tools: [
      {
        name: "ask_first",
        description: "Asks first.",
        inputSchema: { type: "object", properties: {} },
        executionType: "internal",
        execution: { output: { ok: true } },
        requiresApproval: true,
      },
    ],
  },
})

const shots = process.env["STOA_SHOTS"]
const shot = async (page: Page, name: string) => {
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true })
}

const clean = async (page: Page) => expect(await axeFindings(page)).toEqual([])

const thinker = async (
  name: string,
  space: string,
  members: ReadonlyArray<string>,
  limits: object = {},
  more: object = {},
) => {
  const made = await admin().principals.add({ kind: "agent", name, roles: ["agent-standard"], ...more })
  await admin().agents.change(name, { model: "demo", persona: `You are ${name}.`, limits })
  await admin().spaces.add({ name: space, kind: "private", members: [...members, made.id] })
  return made
}
const runOf = async (agent: string, state: string) => {
  for (;;) {
    const { items } = await admin().runs.list({ agent })
    const found = items.find((run) => run.state === state)
    if (found !== undefined) return found
    await new Promise((next) => setTimeout(next, 50))
  }
}

it("Overview shows how it is, each picture with its sentence and its table, and what needs somebody", async () => {
  const maya = await person("Maya", ["admin"])
  const { page } = await visitor()
  await signIn(page, maya.token, "/overview")
  // A new house: everything is there, and says that there is nothing.
  await page.getByRole("img", { name: "No calls in the last six hours." }).waitFor()
  await page.getByText("Nobody has spent anything today").waitFor()
  await page.getByText("Audit trail").waitFor()
  await clean(page)

  const bot = await admin().principals.add({ kind: "agent", name: "poor", roles: ["agent-standard"] })
  await admin().agents.change("poor", { limits: { perDay: { cost: 1 } } })
  const paid = { inputSchema: { type: "object" as const, properties: {} }, executionType: "internal" as const }
  await admin().tools.add({ name: "dear", description: "Costs.", price: 0.92, ...paid, execution: { output: 1 } })
  const { token } = await admin().tokens.add({ principal: bot.id })
  const poor = (await import("@stoa/sdk")).connect({ url: new URL(page.url()).origin, token })
  await poor.tools.call("dear", { input: {} })
  await poor.tools.call("dear", { input: {} }).catch(() => undefined)
  await admin().mcpServers.add({ name: "customs", command: "/nowhere/at/all" })
  await page.reload()
  const calls = page.getByRole("img", { name: /^2 calls in the last six hours: 1 failed or refused; most at/ })
  await calls.waitFor()
  await page.getByText("poor is near its budget").waitFor()
  await page.getByText("It has spent 92 % of its day.").waitFor()
  await page.getByText("customs does not answer").waitFor()
  await page.getByText("$\u00a00.92").first().waitFor()
  await page.locator(".overview-chart", { has: calls }).getByText("As a table").click()
  const table = page.getByRole("region", { name: "Calls" }).getByRole("table")
  await table.waitFor()
  expect(await table.getByRole("columnheader").allInnerTexts()).toEqual(["From", "done", "failed or refused", "other"])
  await shot(page, "overview-wide")
  await clean(page)
  await page.getByRole("button", { name: "7 days" }).click()
  await page.waitForURL(/\/overview\?span=7d/)
  await page
    .getByRole("img", { name: /in the last seven days/ })
    .first()
    .waitFor()
  await page.getByRole("link", { name: "Look: customs does not answer" }).click()
  await page.waitForURL(/\/servers\/customs/)
  await page.goBack()

  // The question mark leads to the guide.
  await page.getByRole("link", { name: "Help with this screen" }).click()
  await page.waitForURL(/\/help\/running/)
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.locator(".page").getByText("SIGHUP").first().waitFor()
  await clean(page)
  await page.goBack()

  // Everything stops, with a reason that everybody reads, and goes on.
  await page.getByRole("button", { name: "Pause everything" }).click()
  await page.getByRole("textbox", { name: "Reason" }).fill("the harbour is closed")
  await clean(page)
  await page.getByRole("button", { name: "Pause everything" }).click()
  await page.getByText("the harbour is closed").waitFor()
  expect((await admin().pauses.list()).items).toMatchObject([
    { subject: "everything", reason: "the harbour is closed" },
  ])
  await clean(page)
  // Every other screen says it too, and leads back.
  const elsewhere = await visitor(phone)
  await signIn(elsewhere.page, maya.token, "/runs")
  const banner = elsewhere.page.getByRole("status").filter({ hasText: "Everything is paused" })
  await banner.getByText("the harbour is closed").waitFor()
  await clean(elsewhere.page)
  await page.getByRole("button", { name: "Lift the pause" }).click()
  await page.getByRole("button", { name: "Pause everything" }).waitFor()
  await banner.waitFor({ state: "detached" })
  await elsewhere.context.close()
  expect((await admin().pauses.list()).items).toEqual([])

  const small = await visitor(phone, { colorScheme: "dark" })
  await signIn(small.page, maya.token, "/overview")
  await small.page.getByText("customs does not answer").waitFor()
  expect(await small.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(phone.width)
  await shot(small.page, "overview-phone")
  await clean(small.page)
  expect(consoleLines).toEqual([])
}, 120_000)

it("Overview while it loads, when it fails, and for somebody who is no admin", async () => {
  const kim = await person("Kim")
  const { page } = await visitor()
  let answer: "late" | "broken" | "whole" = "late"
  let go = () => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  await page.route("**/api/v1/figures**", async (route) => {
    if (answer === "late") await held
    if (answer === "broken")
      return await route.fulfill({
        status: 500,
        contentType: "application/problem+json",
        body: JSON.stringify({ title: "Broken", detail: "It broke.", status: 500, tag: "Internal" }),
      })
    return await route.continue()
  })
  await signIn(page, kim.token, "/overview")
  await page.getByRole("status", { name: "Loading" }).locator("i").first().waitFor()
  answer = "broken"
  go()
  await page.getByRole("alert").getByText("It broke.").waitFor()
  await clean(page)
  answer = "whole"
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("img", { name: "No calls in the last six hours." }).waitFor()
  await page.getByText("Nothing needs attention.").waitFor()
  expect(await page.getByText("Audit trail").count()).toBe(0)
  expect(await page.getByRole("button", { name: "Pause everything" }).count()).toBe(0)
  expect(consoleLines).toEqual([])
})

it("the team is a tree with inboxes; an agent's place and limits are changed, and what its toolset does not allow is said", async () => {
  const ida = await person("Ida", ["admin"])
  await admin().principals.add({ kind: "agent", name: "captain", roles: ["agent-standard"] })
  await admin().principals.add({ kind: "agent", name: "mate", roles: ["agent-standard"], toolsets: ["office"] })
  const { page } = await visitor()
  await signIn(page, ida.token, "/agents/mate?tab=limits")
  await page.getByLabel("Steps per run").fill("50")
  await page.getByLabel("Dollars per day").fill("2")
  await page.getByLabel("Works for").selectOption("captain")
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByText("Some settings have no effect").waitFor()
  await page.getByText("steps is 50, and its toolset office allows 5: its runs have 5.").waitFor()
  await page.getByText(/^5 steps/).waitFor()
  const tree = page.getByRole("region", { name: "Team" })
  await tree.getByRole("listitem").nth(1).getByText("mate").waitFor()
  await tree.getByText("inbox empty · 0 of 1 at work").first().waitFor()
  await page
    .getByText(/0\.00 of \$\u00a02\.00 spent today/)
    .first()
    .waitFor()
  await shot(page, "agents-team")
  await clean(page)
  const mate = await admin().agents.get("mate")
  expect(mate).toMatchObject({
    limits: { steps: 50, perDay: { cost: 2 } },
    notes: ["steps is 50, and its toolset office allows 5: its runs have 5."],
    inForce: { steps: 5 },
  })
  // Neither may stand above the other.
  await page.goto(new URL("/agents/captain?tab=limits", page.url()).href)
  await page.getByLabel("Works for").selectOption("mate")
  await page.getByRole("button", { name: "Save" }).click()
  await page
    .getByRole("alert")
    .getByText(/works for captain already/)
    .waitFor()
  expect(consoleLines).toEqual([])
})

it("a run that waits is followed while the house is killed and started again, and goes on", async () => {
  const una = await person("Una", ["admin"])
  await thinker("sailor", "quay", [una.id])
  await admin().spaces.post("quay", { text: "sail, @sailor" })
  const run = await runOf("sailor", "waiting_tool")
  const { page } = await visitor()
  await signIn(page, una.token, `/runs/${run.id}`)
  const grid = page.getByRole("treegrid")
  await grid.getByRole("row", { name: /Decision/ }).waitFor()
  const rows = await grid.getByRole("row").count()
  await kill()
  await page
    .getByText(/Reconnecting|Offline/)
    .first()
    .waitFor()
  expect(await grid.getByRole("row").count()).toBe(rows)
  await restart()
  await page.getByText("Live", { exact: true }).first().waitFor()
  const [open] = (await admin().decisions.list({ state: "open" })).items
  await admin().decisions.answer(open!.id, { verdict: "approve" })
  await grid.getByRole("row", { name: /post_message/ }).waitFor()
  await page.locator(".bar").getByText("done").waitFor()
  expect(await grid.getByRole("row", { name: /Step 1/ }).count()).toBe(1)
  expect((await admin().runs.list({ agent: "sailor" })).items).toHaveLength(1)
  expect(consoleLines).toEqual([])
}, 90_000)

it("G-40 agents, runs, waits, slots, queue, costs and errors are seen; a run is tried again from a step, a wait released, a prompt read", async () => {
  const ole = await person("Ole", ["admin"])
  await thinker("purser", "hold", [ole.id])
  await admin().spaces.post("hold", { text: "twice, @purser" })
  const failed = await runOf("purser", "failed")
  const { page } = await visitor()
  await signIn(page, ole.token, `/runs/${failed.id}?span=s2`)
  await page.getByRole("button", { name: "Retry from step 2" }).click()
  await page.waitForURL((url) => url.pathname.startsWith("/runs/run_") && !url.pathname.includes(failed.id))
  await page.getByText("Retry of").waitFor()
  // What step 1 said is taken over, not said again.
  await page
    .getByRole("treegrid")
    .getByRole("row", { name: /Step 1/ })
    .waitFor()
  const texts = (await admin().spaces.messages("hold")).items.map(({ text }) => text)
  expect(texts.filter((text) => text === "Once.")).toHaveLength(1)

  await thinker("asker", "bridge", [ole.id], {}, { toolsets: ["gateway"] })
  await admin().spaces.post("bridge", { text: "wait, @asker" })
  const waiting = await runOf("asker", "waiting_reply")
  // It is among what lives, and says for whom it waits.
  await page.goto(new URL("/runs?state=live", page.url()).href)
  await page.getByRole("row", { name: /asker.*waiting/ }).waitFor()
  await page.goto(new URL(`/runs/${waiting.id}`, page.url()).href)
  await page.getByText("Waiting for Ole").first().waitFor()
  await page.getByRole("button", { name: "Release the wait" }).click()
  await page.getByRole("button", { name: "Release the wait" }).waitFor({ state: "detached" })
  expect((await admin().waits.list()).items.filter(({ agent }) => agent === waiting.agent)).toEqual([])

  await thinker("spender", "mint", [ole.id], { perDay: { cost: 0.5 } })
  await admin().spaces.post("mint", { text: "spend, @spender" })
  await runOf("spender", "failed")
  await page.goto(new URL("/runs?agent=spender", page.url()).href)
  await page.getByText("stopped: the day's budget is spent").first().waitFor()
  await page.goto(new URL("/overview", page.url()).href)
  await page.getByText("spender is near its budget").waitFor()
  await page.getByText("It has spent its day").waitFor()
  // Slots and queue, what it costs, and what failed.
  await page.getByText("4 of 4 slots free").waitFor()
  await page.getByRole("row", { name: /spender.*0\.90/ }).waitFor()
  await page.getByRole("img", { name: /completed and [1-9]\d* failed in the last six hours/ }).waitFor()
  await page.goto(new URL("/agents", page.url()).href)
  for (const name of ["purser", "asker", "spender"])
    await page
      .getByRole("link", { name: new RegExp(name) })
      .first()
      .waitFor()
  await page.goto(new URL("/agents/purser?tab=prompt", page.url()).href)
  await page.getByText("What the model would see now").waitFor()
  await page.getByRole("button", { name: "See it whole" }).click()
  await page
    .getByText(/You are purser\./)
    .first()
    .waitFor()
  expect(consoleLines).toEqual([])
}, 90_000)
