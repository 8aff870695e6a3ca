/** First sight: a new house with its demo, from the first start to the last step, wide and on a phone. */
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { axeFindings, faultsOf } from "../kit/axe.ts"
import { inDemo, sizes } from "../kit/screens.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"

const { admin, as, consoleLines, signIn, token, url, visitor } = houseInBrowser({ demo: true })

const clean = async (page: Page) => expect(await axeFindings(page)).toEqual([])

it("the printed link waits for a page that is being built, and then signs in", { timeout: 120_000 }, async () => {
  const { context, page } = await visitor()
  const card = readFileSync(new URL("../../../public/waiting.html", import.meta.url), "utf8")
  let asked = 0
  await page.route(`${url()}/`, (route) =>
    ++asked < 3 ? route.fulfill({ contentType: "text/html", body: card }) : route.continue(),
  )
  await page.goto(`${url()}/#token=${encodeURIComponent(token())}`)
  await page.getByText("The page is being built").waitFor()
  await page.getByRole("heading", { name: "office" }).waitFor()
  expect(asked).toBe(3)
  expect(consoleLines).toEqual([])
  await context.close()
})

it("the guide heads the demo's space, and ticks itself to the last step", { timeout: 120_000 }, async () => {
  const { page } = await visitor()
  await signIn(page, token())
  await page.getByRole("heading", { name: "office" }).waitFor()
  const guide = page.getByRole("region", { name: "This house is alive." })
  const step = (name: string) => guide.locator("li", { hasText: name })
  await step("Sign in").getByRole("img", { name: "done" }).waitFor()
  await page.getByText("Welcome,").first().waitFor()
  await clean(page)
  // clerk asks; somebody answers in place.
  const order = page.locator("section.decision", { hasText: "order" }).first()
  const approve = order.getByRole("button", { name: /^Approve/ })
  const ordered = page.getByText("Ordered 4 × Coffee").first()
  // Agents still talk: what is pressed may be moved away under the finger, as it may for anybody, who then presses again.
  for (let tries = 0; tries < 5 && !(await ordered.isVisible()); tries++) {
    if (await approve.isVisible()) await approve.click({ delay: 600 })
    await ordered.waitFor({ timeout: 10_000 }).catch(() => undefined)
  }
  await ordered.waitFor()
  // Once it was answered the guide is a line, with what is left; it opens again.
  const left = guide.getByRole("list", { name: "Steps that are left" })
  await left.getByText("Bring your own agent").waitFor()
  expect(await left.getByText("Answer the first decision").count()).toBe(0)
  await clean(page)
  await guide.getByRole("button", { name: "Show the guide" }).click()
  await step("Answer the first decision").getByRole("img", { name: "done" }).waitFor()
  // A program of one's own introduces itself over MCP.
  const agent = await admin().principals.add({ kind: "agent", name: "mate" })
  const issued = await admin().tokens.add({ principal: agent.id })
  await fetch(new URL("/mcp", page.url()), {
    method: "POST",
    headers: {
      authorization: `Bearer ${issued.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "mate", version: "1" } },
    }),
  })
  await step("Bring your own agent").getByRole("img", { name: "done" }).waitFor()
  await page.emulateMedia({ colorScheme: "dark" })
  await clean(page)
  const { steps } = await admin().demo.get()
  expect(steps.map(({ at }) => at !== null)).toEqual([true, true, true, false])
})

it("every screen where agents live is clean by day and night, wide, on a phone and at 400 %", async () => {
  const { page } = await visitor()
  await signIn(page, token())
  const forms = [
    { colorScheme: "light", viewport: sizes.desktop },
    { colorScheme: "dark", viewport: sizes.phone },
  ] as const
  expect(await faultsOf(page, url(), await inDemo(admin()), forms)).toEqual([])
  expect(consoleLines).toEqual([])
}, 120_000)

it("counts as the inbox does: what one has approved, and a second person must, no longer waits for one", async () => {
  const house = admin()
  await house.principals.add({ kind: "person", name: "second", roles: ["admin"] })
  await house.tools.add({
    name: "launch",
    description: "Launches a ship",
    inputSchema: { type: "object" },
    executionType: "gateway",
    execution: { operation: "evaluate", expression: "1" },
    requiresApproval: true,
    approval: { people: 2 },
  })
  const agent = await house.principals.add({ kind: "agent", name: "pilot" })
  const pilot = as((await house.tokens.add({ principal: agent.id })).token)
  const { page } = await visitor()
  await signIn(page, token(), "/s/office")
  const count = page.locator(".welcome-nouns").getByRole("link", { name: /^\d+ decisions?$/ })
  const waiting = async () => Number((await count.innerText()).split(" ")[0])
  const inbox = async () => (await house.decisions.list({ state: "open", for: "me" })).items.length
  const { on } = (await pilot.tools.call("launch", { input: {}, wait: 0 })) as { on?: { id: string } }
  await expect.poll(waiting).toBe(await inbox())
  await house.decisions.answer(on!.id, { verdict: "approve" })
  await expect.poll(async () => (await waiting()) - (await inbox())).toBe(0)
  expect((await house.decisions.get(on!.id)).state).toBe("open")
  expect(consoleLines).toEqual([])
})

it("on a phone it is folded, says what goes, asks once, and takes the demo away", { timeout: 120_000 }, async () => {
  const { page } = await visitor(phone, { hasTouch: true })
  await signIn(page, token())
  await page.getByRole("button", { name: "Show the guide" }).tap()
  await clean(page)
  await page.getByRole("button", { name: "Remove the demo" }).tap()
  await page.getByText("This removes 4 agents, 5 spaces, 4 tools, 1 server, 1 model").waitFor()
  await page.getByRole("button", { name: "Keep it" }).tap()
  expect((await admin().demo.get()).state).toBe("on")
  await page.getByRole("button", { name: "Remove the demo" }).tap()
  await page.getByRole("button", { name: "Remove the demo" }).tap()
  await page.getByRole("heading", { name: "This house is yours, and empty." }).waitFor()
  expect((await admin().demo.get()).state).toBe("removed")
  await clean(page)
  expect(consoleLines).toEqual([])
})
