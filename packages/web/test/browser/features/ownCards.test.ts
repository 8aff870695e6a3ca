/** Owners' own cards: what they may do, and every way out that a hostile one tries. Contact is counted, not errors. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Frame } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Contacts, contacts } from "../kit/contacts.ts"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

const { admin, data, consoleLines, signIn, token, url, visitor } = houseInBrowser()

const hostile = new URL("../kit/hostileCard.js", import.meta.url)
const namesOf = (parameter: string) =>
  [...readFileSync(hostile, "utf8").matchAll(/^ {2}(\w+): (?:async )?\((\w+)\) =>/gm)].flatMap(([, name, given]) =>
    given === parameter ? [name!] : [],
  )
const ways = namesOf("at")
const moves = namesOf("to")
/**
 * What the policy of the frame stops in silence. Everything else is refused where it is tried, and has to be: not every
 * browser opens a connection ahead, and the one of these tests does not.
 */
const policed =
  "beacon webSocket eventSource webTransport image srcset svgImage video style inputImage popup popupLink popupForm ping topLink topForm xhr".split(
    " ",
  )
/** Asked for last: whoever was on the way before it has arrived. */
const fence = "fence"
let outside: Contacts

const shown = { ship: "Meltemi", berth: 7 }

const addTool = (name: string, customUI: string) =>
  admin().tools.add({
    name,
    description: "Shows a card",
    inputSchema: { type: "object" },
    executionType: "gateway",
    execution: { operation: "evaluate", expression: "input.shown" },
    display: { customUI },
  })

beforeAll(async () => {
  outside = await contacts([...ways, ...moves.map((move) => `move_${move}`), fence])
  mkdirSync(join(data, "cards"), { recursive: true })
  copyFileSync(hostile, join(data, "cards", "hostile.js"))
  await addTool("get_out", "hostile")
})
afterAll(() => outside.close())

it("a hostile card tries every way out, and reaches no other address, no other path of the house and no page", async () => {
  expect(ways.length).toBeGreaterThan(60)
  const space = await admin().spaces.add({ name: "ways-out", kind: "public" })
  const inputs = [
    { ways: Object.fromEntries(ways.map((way) => [way, outside.at[way]!])) },
    ...moves.map((move) => ({ move, to: `http://${outside.at[`move_${move}`]}/` })),
    ...moves.map((move, at) => ({ move, to: url() + ["/api/v1/me", "/d/x", "/s/general", "/mcp", "/docs"][at % 5]! })),
    { move: "location", to: "data:text/html,moved" },
  ]
  for (const input of inputs)
    await admin().tools.call("get_out", { input: { ...input, shown }, space: space.id, wait: 10 })
  const { context, page } = await visitor({ width: 1280, height: 2400 })
  const before = consoleLines.length
  const answered: Array<string> = []
  context.on("response", (answer) => {
    const { host, pathname } = new URL(answer.url())
    if (answer.frame().parentFrame() !== null) answered.push(`${host}${pathname}`)
  })
  await signIn(page, token(), "/s/ways-out")
  await page.getByRole("button", { name: `${inputs.length} calls` }).click()
  const cards = page.locator("iframe[title='get_out, shown by the card hostile']")
  await expect.poll(() => cards.count()).toBe(inputs.length)
  /** A card that got away says nothing any more. */
  const isOver = async (frame: Frame) =>
    !/^$|^about:|\/cards\/hostile(?:#|$)/.test(frame.url()) || (await frame.getByText("all tried").count()) === 1
  const areOver = async () => (await Promise.all(page.mainFrame().childFrames().map(isOver))).every(Boolean)
  await expect.poll(areOver, { timeout: 60_000 }).toBe(true)
  const later = await context.newPage()
  await later.goto(`http://${outside.at[fence]}/`)
  await later.close()
  expect(outside.made()).toEqual([fence])
  const told = await Promise.all(
    page
      .mainFrame()
      .childFrames()
      .map((frame) => frame.locator("li").allTextContents()),
  )
  const tried = told.find((lines) => lines.length > 2) ?? []
  expect(tried).toHaveLength(ways.length + 1)
  const unrefused = tried.flatMap((line) => /^(\w+): no error$/.exec(line)?.[1] ?? [])
  expect(unrefused.filter((way) => !policed.includes(way))).toEqual([])

  expect([...new Set(answered)]).toEqual([`${new URL(url()).host}/cards/hostile`])
  expect(context.pages()).toEqual([page])
  expect(new URL(page.url()).pathname).toBe("/s/ways-out")
  // The browser tells in the console what the card was refused.
  consoleLines.splice(before)
}, 180_000)

it("the card of the guide is drawn, with the markup of its own that it may write; one that is no script says so", async () => {
  const guide = readFileSync(new URL("../../../../../docs/user/cards.md", import.meta.url), "utf8")
  const [, example] = /```js\n([^]*?)```/.exec(guide)!
  writeFileSync(join(data, "cards", "ship.js"), example!.replaceAll("\n", "\r\n"))
  writeFileSync(
    join(data, "cards", "table.js"),
    `const cell = await Promise.resolve("b")
stoa.card((call, root) => { root.innerHTML = "<table><tr><td>" + call.output.ship + "</td><td>" + cell + "</td></tr></table>" })`,
  )
  writeFileSync(join(data, "cards", "broken.js"), "})(); document.title = 1; (async () => {")
  const space = await admin().spaces.add({ name: "berths", kind: "public" })
  for (const card of ["ship", "table"]) {
    await addTool(`show_${card}`, card)
    await admin().tools.call(`show_${card}`, { input: { shown }, space: space.id, wait: 10 })
  }
  const { page } = await visitor()
  await signIn(page, token(), "/s/berths")
  const inside = (card: string) =>
    page.locator(`iframe[title='show_${card}, shown by the card ${card}']`).contentFrame()
  await inside("ship").getByText("Meltemi lies at berth 7").waitFor()
  await inside("table").getByRole("cell", { name: "Meltemi" }).waitFor()
  expect(consoleLines).toEqual([])
  const broken = await page.context().request.get(`${url()}/cards/broken`)
  expect(await broken.text()).toMatch(/cards\/broken\.js/)
})
