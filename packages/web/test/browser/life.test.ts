/** What the page lives through: the house killed and started again, seven tabs, a long past, and the eyes of axe. */
import { AxeBuilder } from "@axe-core/playwright"
import { beforeAll, expect, it } from "vitest"
import { screens, sizes } from "./screens.ts"
import { seed } from "./seed.ts"
import { stage } from "./stage.ts"

const house = stage()
const { admin, as, kill, listen, restart, said, signIn, url, visitor } = house
let people: Awaited<ReturnType<typeof seed>>

beforeAll(async () => {
  people = await seed(house)
}, 60_000)

it("axe finds nothing on any screen, by day and night, wide and on a phone", async () => {
  const found: Array<string> = []
  for (const colorScheme of ["light", "dark"] as const)
    for (const [size, viewport] of Object.entries(sizes)) {
      const { context, page } = await visitor(viewport, { colorScheme })
      await signIn(page, people.maya.token)
      for (const [name, path] of screens) {
        await page.goto(url() + path)
        await page.locator("h1").first().waitFor()
        await page.locator("[aria-busy=true]").waitFor({ state: "detached" })
        const { violations } = await new AxeBuilder({ page }).analyze()
        for (const { id, nodes } of violations)
          found.push(`${name} ${size} ${colorScheme}: ${id} ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`)
      }
      await context.close()
    }
  expect(found).toEqual([])
  expect(said).toEqual([])
}, 180_000)

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
  await page.getByRole("button", { name: "To the newest" }).waitFor()
  const place = await box.evaluate((one) => one.scrollTop)
  await kill()
  await page
    .getByText(/Reconnecting|Offline/)
    .first()
    .waitFor()
  await restart()
  await page.getByText("Live", { exact: true }).first().waitFor()
  await as(maya.token).spaces.post(space.id, { text: "after" })
  await page.getByRole("button", { name: "To the newest" }).waitFor()
  expect(Math.abs((await box.evaluate((one) => one.scrollTop)) - place)).toBeLessThan(3)
  expect(await page.getByRole("textbox").inputValue()).toBe("a draft that must stay")
  await page.getByRole("button", { name: "To the newest" }).click()
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

it("a long past is loaded as one comes to it, with a handful of rows in the document", async () => {
  const { maya } = people
  const writer = as(maya.token)
  const space = await writer.spaces.add({ name: "archive", kind: "public" })
  for (let from = 1; from <= 1000; from += 50)
    await Promise.all(Array.from({ length: 50 }, () => writer.spaces.post(space.id, { text: "a line of the past" })))
  const last = await writer.spaces.post(space.id, { text: "the newest of all" })
  const { page } = await visitor()
  await signIn(page, maya.token, "/s/archive")
  await page.getByText("the newest of all").waitFor()
  expect(await page.getByRole("article").count()).toBeLessThan(80)
  await page.goto(`${url()}/s/archive?at=${last.seq - 900}`)
  await page.locator(`[data-message]`).first().waitFor()
  await page.getByRole("button", { name: "To the newest" }).click()
  await page.getByText("the newest of all").waitFor()
  expect(said.filter((line) => !/401|Failed to load/.test(line))).toEqual([])
}, 120_000)
