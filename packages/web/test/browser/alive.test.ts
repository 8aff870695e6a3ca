/** Runs, agents and memory as people see them: a real house, a scripted model, Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"
import { afterAll, expect, it } from "vitest"
import { phone, stage } from "./stage.ts"

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

const { admin, person, said, signIn, visitor } = stage({
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

/** No finding of axe, as the screen stands. */
const clean = async (page: Page) => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 160))])).toEqual([])
}

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
  await row.getByText("waits").waitFor()
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
  await admin().decisions.answer(open!.id, { verdict: "approve" })
  await grid.getByRole("row", { name: /post_message/ }).waitFor()
  await page.locator(".bar").getByText("done").waitFor()
  await page.locator(".facts").getByRole("link", { name: /admin/ }).click()
  await page.waitForURL(/\/s\/harbour/)

  // From a call in the space to its step.
  await page.getByText("berths").first().click()
  await page.getByRole("link", { name: "Step 1 of the run" }).first().click()
  await page.waitForURL(/\/runs\/.*span=s1c1/)
  expect(said).toEqual([])
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
  await page.getByText("A second try of").waitFor()
  expect(said).toEqual([])
}, 90_000)

it("a run that nobody may see is said to be nothing", async () => {
  const kim = await person("Kim")
  const { page } = await visitor()
  await signIn(page, kim.token, "/runs/run_01980000-0000-7000-8000-000000000000")
  await page.getByText("Nothing here that you can see.").waitFor()
  await clean(page)
  expect(said).toEqual([])
}, 60_000)
