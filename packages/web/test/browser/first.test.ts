/** First sight: a new house with its demo, from the first start to the last step, wide and on a phone. */
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { axeFindings } from "./axe.ts"
import { phone, stage } from "./stage.ts"

const { admin, said, signIn, token, visitor } = stage({ demo: true })

const clean = async (page: Page) => expect(await axeFindings(page)).toEqual([])

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
  await order.getByRole("button", { name: /^Approve/ }).click({ delay: 600 })
  await page.getByText("Ordered 4 × Coffee").first().waitFor()
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

it("on a phone it is folded, says what goes, asks once, and takes the demo away", { timeout: 120_000 }, async () => {
  const { page } = await visitor(phone, { hasTouch: true })
  await signIn(page, token())
  await page.getByRole("button", { name: "Show the guide" }).tap()
  await clean(page)
  await page.getByRole("button", { name: "Remove the demo" }).tap()
  await page.getByText("This takes away 4 agents, 5 spaces, 4 tools, 1 server, 1 model").waitFor()
  await page.getByRole("button", { name: "Keep it" }).tap()
  expect((await admin().demo.get()).state).toBe("on")
  await page.getByRole("button", { name: "Remove the demo" }).tap()
  await page.getByRole("button", { name: "Remove the demo" }).tap()
  await page.getByRole("heading", { name: "This house is yours, and empty." }).waitFor()
  expect((await admin().demo.get()).state).toBe("removed")
  await clean(page)
  expect(said).toEqual([])
})
