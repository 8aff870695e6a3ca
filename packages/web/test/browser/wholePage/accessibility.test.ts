/** For everybody: axe on every screen, 400 % zoom, keys alone, and a thumb on a phone. */
import type { Page } from "playwright-core"
import { beforeAll, expect, it } from "vitest"
import { isLong } from "../../../../../test/long.ts"
import { faultsOf, type Form } from "../kit/axe.ts"
import { screens, sizes } from "../kit/screens.ts"
import { fillOffice } from "../kit/office.ts"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

const house = houseInBrowser()
const { admin, consoleLines, signIn, url, visitor } = house
let people: Awaited<ReturnType<typeof fillOffice>>

beforeAll(async () => {
  people = await fillOffice(house)
})

/** Every theme with every width where there is time; otherwise each of both once. */
const forms: ReadonlyArray<Form> = [
  { colorScheme: "light", viewport: sizes.desktop },
  { colorScheme: "dark", viewport: sizes.phone },
  ...(isLong
    ? [
        { colorScheme: "dark", viewport: sizes.desktop } as const,
        { colorScheme: "light", viewport: sizes.phone } as const,
      ]
    : []),
]

it("on any screen axe finds nothing, by day and night, wide and on a phone; and at 400 % nothing scrolls sideways", async () => {
  const { page } = await visitor()
  await signIn(page, people.maya.token)
  expect(await faultsOf(page, url(), screens, forms)).toEqual([])
  expect(consoleLines).toEqual([])
}, 180_000)

/** Until what has the focus is it; a person with a keyboard has no other way. */
const tabTo = async (page: Page, wanted: string, most = 60) => {
  for (let at = 0; at < most; at++) {
    await page.keyboard.press("Tab")
    if (await page.evaluate((selector) => document.activeElement?.matches(selector) === true, wanted)) return
  }
  throw new Error(`${wanted} is not reached by Tab`)
}

it("keys alone: from the skip link to a space, a message, the next space, the inbox and an answer", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "By keys", text: "x" }, 0)
  const { page } = await visitor()
  await signIn(page, maya.token, "/s/general")
  await page.getByRole("article").first().waitFor()
  await page.keyboard.press("Tab")
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content")
  await page.keyboard.press("Enter")
  await tabTo(page, "textarea")
  await page.keyboard.type("by keys alone")
  await page.keyboard.press("Enter")
  await page.getByRole("article").getByText("by keys alone").waitFor()
  await page.keyboard.press("Alt+ArrowDown")
  await page.waitForURL(/\/s\/harbour/)
  await page.keyboard.press("Escape")
  await page.locator("h1").filter({ hasText: "harbour" }).waitFor()
  await page.keyboard.press("g")
  await page.keyboard.press("d")
  await page.waitForURL(/\/decisions/)
  await page.locator(".main-act:not([aria-disabled])").first().waitFor()
  const before = (await admin().decisions.list({ state: "open" })).items.length
  await tabTo(page, ".decision .main-act")
  await page.keyboard.press("Enter")
  await expect.poll(async () => (await admin().decisions.list({ state: "open" })).items.length).toBe(before - 1)
  expect(consoleLines).toEqual([])
})

it("a thumb on a phone: the inbox, one decision, no by touch with a note; nothing to press is too small", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "By touch", text: "x" }, 0)
  const { page } = await visitor(sizes.phone, { hasTouch: true, isMobile: true })
  await signIn(page, maya.token, "/spaces")
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: /Decisions/ })
    .tap()
  await page
    .getByRole("link", { name: /send_mail/ })
    .last()
    .tap()
  const card = page.locator("section.decision")
  await card.getByText("By touch").first().waitFor()
  await card.locator(".main-act:not([aria-disabled])").waitFor()
  const boxes = await Promise.all((await card.getByRole("button").all()).map((button) => button.boundingBox()))
  expect(boxes.flatMap((box) => (box !== null && Math.min(box.height, box.width) < 24 ? [box] : []))).toEqual([])
  const deny = card.getByRole("button", { name: "Deny" })
  // What decides stays at the edge where the thumb is.
  expect((await deny.boundingBox())!.height).toBeGreaterThanOrEqual(44)
  await deny.tap()
  await card.getByRole("textbox").fill("not by phone")
  await card.getByRole("button", { name: "Deny" }).tap()
  await expect
    .poll(async () => (await admin().decisions.list({ state: "answered", limit: 100 })).items.map(({ note }) => note))
    .toContain("not by phone")
  expect(consoleLines).toEqual([])
})
