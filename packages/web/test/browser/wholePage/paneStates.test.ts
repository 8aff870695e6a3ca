/** Every pane in its five states: empty, loading, error, full, and full while the house is away. */
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { panes } from "../kit/screens.ts"
import { fillOffice } from "../kit/office.ts"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

const house = houseInBrowser()
const { admin, as, kill, listen, restart, consoleLines, signIn, token, url, visitor } = house
let maya = ""

const problem = {
  type: "https://stoa.invalid/docs/errors/WrongState",
  title: "Not now",
  status: 409,
  detail: "This cannot be done in the state it is in.",
  tag: "WrongState",
}

it("empty: one sentence that says what comes here", async () => {
  const { context, page } = await visitor()
  await signIn(page, token(), "/spaces")
  await page.getByText("No spaces yet").waitFor()
  for (const { empty, path } of panes) {
    if (empty === undefined) continue
    await page.goto(url() + path)
    await page.getByText(empty).first().waitFor()
  }
  expect(consoleLines).toEqual([])
  await context.close()
})

/** Held until it is let go: then the house says no, and the next time it answers. */
const visit = async (page: Page, { asks, full, path }: (typeof panes)[number]) => {
  let letGo = () => {}
  const held = new Promise<void>((go) => (letGo = go))
  const isAsked = (address: URL) =>
    address.pathname.startsWith("/api/v1/") && asks.test(address.pathname + address.search)
  await page.route(isAsked, async (route) => {
    await held
    await route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify(problem) })
  })
  await page.goto(url() + path)
  await page.locator("[aria-busy=true]").first().waitFor()
  letGo()
  const fault = page.getByRole("alert").first()
  await fault.getByText("This cannot be done in the state it is in.").waitFor()
  expect(await fault.getByRole("link").count()).toBe(1)
  await page.unroute(isAsked)
  await fault.getByRole("button", { name: "Try again" }).click()
  await page.getByText(full).first().waitFor()
  await fault.waitFor({ state: "detached" })
}

it("loading, error with its tag and Try again, then full", async () => {
  const people = await fillOffice(house)
  maya = people.maya.token
  const office = as(maya)
  await office.memory.put({ kind: "note", key: "berths", content: "Berth 7 is deep enough for all but one." })
  await people.call(people.scout.client, "send_mail", { to: ["a@b.example"], subject: "Keys", text: "x" }, 0)
  const open = (await admin().decisions.list({ state: "open" })).items
  const [one] = open.filter(({ call }) => JSON.stringify(call?.input).includes("Keys"))
  await office.decisions.answer(one!.id, { verdict: "approve", reach: "always" })
  const { context, page } = await visitor()
  await signIn(page, maya)
  const more = [page, listen(await context.newPage())]
  const left = [...panes]
  // Two at a time: each waits for its own answers alone.
  await Promise.all(
    more.map(async (tab) => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await visit(tab, next)
    }),
  )
  expect(consoleLines).toEqual([])
  await context.close()
}, 90_000)

it("while the house is away all of them keep what they show and say so, and go on when it is back", async () => {
  const { context, page } = await visitor()
  await signIn(page, maya)
  const tabs = await Promise.all(
    panes.map(async ({ path }) => {
      const tab = listen(await context.newPage())
      await tab.goto(url() + path)
      return tab
    }),
  )
  const shown = () => Promise.all(tabs.map((tab, at) => tab.getByText(panes[at]!.full).first().waitFor()))
  await shown()
  await kill()
  const away = /Reconnecting|Offline|Connecting/
  await Promise.all(tabs.map((tab) => tab.getByRole("status").filter({ hasText: away }).first().waitFor()))
  await shown()
  await restart()
  await Promise.all(tabs.map((tab) => tab.getByText("Live", { exact: true }).first().waitFor()))
  await shown()
  expect(consoleLines).toEqual([])
  await context.close()
}, 90_000)
