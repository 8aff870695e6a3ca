/** What the page lives through: the house killed and started again, seven tabs, ten thousand messages, a hundred a second. */
import type { Locator } from "playwright-core"
import { beforeAll, expect, it } from "vitest"
import { times } from "../../../../../test/long.ts"
import { fillOffice } from "../kit/office.ts"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

const house = houseInBrowser()
const { admin, as, kill, listen, restart, consoleLines, signIn, url, visitor } = house
let people: Awaited<ReturnType<typeof fillOffice>>

beforeAll(async () => {
  people = await fillOffice(house)
})

/** Where it is scrolled to, once a wheel that was turned has come to rest. */
const resting = (box: Locator) =>
  box.evaluate(async (one) => {
    const frame = () => new Promise((next) => requestAnimationFrame(next))
    let place = Number.NaN
    for (let still = 0; still < 10; still = one.scrollTop === place ? still + 1 : 0) {
      place = one.scrollTop
      await frame()
    }
    return place
  })

it("the house is killed and started again with the page open: nothing is lost, doubled or moved", async () => {
  const { maya } = people
  const space = await admin().spaces.add({ name: "storm", kind: "public", members: [maya.id] })
  for (let at = 1; at <= 60; at++) await admin().spaces.post(space.id, { text: `before ${at}` })
  const { page } = await visitor()
  await signIn(page, maya.token, "/s/storm")
  const box = page.getByRole("log")
  await page.getByText("before 60", { exact: true }).waitFor()
  await page.getByRole("textbox").fill("a draft that must stay")
  await box.hover()
  await page.mouse.wheel(0, -300)
  await page.getByRole("button", { name: "Go to the newest message" }).waitFor()
  const place = await resting(box)
  await kill()
  await page
    .getByText(/Reconnecting|Offline/)
    .first()
    .waitFor()
  await restart()
  await page.getByText("Live", { exact: true }).first().waitFor()
  await as(maya.token).spaces.post(space.id, { text: "after" })
  await page.getByRole("button", { name: "Go to the newest message" }).waitFor()
  expect(Math.abs((await box.evaluate((one) => one.scrollTop)) - place)).toBeLessThan(3)
  expect(await page.getByRole("textbox").inputValue()).toBe("a draft that must stay")
  await page.getByRole("button", { name: "Go to the newest message" }).click()
  await page.getByText("after", { exact: true }).waitFor()
  expect(await page.getByText("before 60", { exact: true }).count()).toBe(1)
  expect(await page.getByText("after", { exact: true }).count()).toBe(1)
}, 90_000)

it("a post that finds no house stays in its place and is sent once it is there", async () => {
  const { maya } = people
  const { page } = await visitor()
  await signIn(page, maya.token, "/s/customers")
  await page.getByText("Nobody has said anything.").waitFor()
  await kill()
  await page.getByRole("textbox").fill("into the storm")
  await page.keyboard.press("Enter")
  await page.getByText("Not sent.").waitFor()
  await restart()
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByText("Not sent.").waitFor({ state: "detached" })
  await page.getByText("into the storm").waitFor()
  const { items } = await as(maya.token).spaces.messages("customers")
  expect(items.filter(({ text }) => text === "into the storm")).toHaveLength(1)
}, 90_000)

it("seven tabs share one feed, and go on when the one that holds it closes", async () => {
  const { maya } = people
  const { context, page } = await visitor()
  await signIn(page, maya.token, "/s/general")
  const tabs = [page]
  for (let more = 0; more < 6; more++) {
    const tab = listen(await context.newPage())
    await tab.goto(`${url()}/s/general`)
    await tab.getByText("Live", { exact: true }).first().waitFor()
    tabs.push(tab)
  }
  const jonas = as(people.jonas.token)
  await jonas.spaces.post("general", { text: "to all seven" })
  await Promise.all(tabs.map((tab) => tab.getByText("to all seven").waitFor()))
  await tabs[0]!.close()
  await jonas.spaces.post("general", { text: "to all six" })
  await Promise.all(tabs.slice(1).map((tab) => tab.getByText("to all six").waitFor()))
  for (const tab of tabs.slice(1)) expect(await tab.getByText("to all six").count()).toBe(1)
}, 90_000)

/** Ten thousand of them, and a whole minute at a hundred a second, where there is time. */
const long = process.env["STOA_TEST_LONG"] === "1"
const maxWait = long ? 600_000 : 120_000

it(
  "thousands of messages: the end, the middle and the beginning are right, with a handful of rows in the document",
  async () => {
    const { maya } = people
    const writer = as(maya.token)
    const space = await writer.spaces.add({ name: "archive", kind: "public" })
    const count = times(2000, 10_000)
    for (let from = 1; from <= count; from += 100)
      await Promise.all(Array.from({ length: 100 }, () => writer.spaces.post(space.id, { text: "a line of the past" })))
    const last = await writer.spaces.post(space.id, { text: "the newest of all" })
    const { page } = await visitor()
    await signIn(page, maya.token, "/s/archive")
    await page.getByText("the newest of all").waitFor()
    const rows = () => page.getByRole("article").count()
    expect(await rows()).toBeLessThan(80)
    // Each is seen, not only drawn somewhere: by its address, and again on the way back, where others are loaded.
    const isSeen = async (at: number) => {
      const wanted = (await writer.spaces.messages("archive", { after: at - 1, limit: 1 })).items[0]!
      const row = page.locator(`[data-message="${wanted.id}"]`)
      await row.waitFor()
      const inBox = (one: Element) => {
        const { bottom, top } = one.closest("[role=log]")!.getBoundingClientRect()
        const mine = one.getBoundingClientRect()
        return mine.top >= top && mine.bottom <= bottom
      }
      await expect.poll(() => row.evaluate(inBox)).toBe(true)
      expect(await rows()).toBeLessThan(80)
    }
    const places = [0.5, 1, 0.9, 0.03, 0.7, 0.2, 0.98].map((part) => last.seq - Math.floor(count * part))
    for (const at of places) {
      await page.goto(`${url()}/s/archive?at=${at}`)
      await isSeen(at)
      // Who has gone elsewhere is brought there again all the same.
      await page.getByRole("log").hover()
      await page.mouse.wheel(0, -2000)
    }
    for (const at of places.slice(0, -1).toReversed()) {
      await page.goBack()
      await isSeen(at)
    }
    await page.getByRole("button", { name: "Go to the newest message" }).click()
    await page.getByText("the newest of all").waitFor()
    expect(consoleLines).toEqual([])
  },
  maxWait,
)

it(
  "a hundred a second are shown in order, each once, and the reader stays at the end",
  async () => {
    const { maya } = people
    const writer = as(people.jonas.token)
    const space = await writer.spaces.add({ name: "flood", kind: "public", members: [maya.id] })
    const { page } = await visitor()
    await signIn(page, maya.token, "/s/flood")
    await page.getByText("Nobody has said anything.").waitFor()
    // Every message that is ever drawn, by its number, in the order in which it came.
    await page.evaluate(() => {
      const seen: Array<string> = []
      Object.assign(globalThis, { seen })
      new MutationObserver(() => {
        for (const one of document.querySelectorAll<HTMLElement>("[role=log] [data-message]")) {
          const id = one.dataset["message"] ?? ""
          if (!seen.includes(id)) seen.push(id)
        }
      }).observe(document.body, { childList: true, subtree: true })
    })
    // As fast as it goes, until more are loaded than the page keeps: from then on one goes as one comes.
    for (let from = 0; from < 600; from += 100)
      await Promise.all(Array.from({ length: 100 }, () => writer.spaces.post(space.id, { text: "rising" })))
    // Ten at once, a tenth of a second for each ten; a slower machine takes its time. Of ten, any may come first.
    const all = long ? 6000 : 300
    const begun = performance.now()
    for (let from = 0; from < all; from += 10) {
      await Promise.all(Array.from({ length: 10 }, () => writer.spaces.post(space.id, { text: "flood" })))
      const early = begun + from * 10 - performance.now()
      if (early > 0) await new Promise((go) => setTimeout(go, early))
    }
    await writer.spaces.post(space.id, { text: "the end of the flood" })
    await page.getByText("the end of the flood").waitFor()
    const newest = (await writer.spaces.messages("flood", { limit: 100 })).items.map(({ id }) => id)
    const seen = await page.evaluate(() => (globalThis as unknown as { readonly seen: ReadonlyArray<string> }).seen)
    // The newest hundred: whatever of them was drawn came in their order, and the last is there once.
    expect(seen.filter((id) => newest.includes(id))).toEqual(newest.filter((id) => seen.includes(id)))
    expect(await page.getByText("the end of the flood").count()).toBe(1)
    await page.getByRole("button", { name: "Go to the newest message" }).waitFor({ state: "detached" })
    const here = await page
      .locator("[role=log] [data-message]")
      .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset["message"]))
    expect(here).toEqual(newest.slice(-here.length))
    expect(consoleLines).toEqual([])
  },
  maxWait,
)
