/** Each card of a result, shown by a real call of a tool of this process. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { contacts } from "../kit/contacts.ts"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

const { admin, data, consoleLines, signIn, token, url, visitor } = houseInBrowser()

const dot =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="

const results: Readonly<Record<string, unknown>> = {
  weather: { city: "Piraeus", temperature: 18.4, condition: "clear", wind: "3 bft" },
  product: { name: "Coffee, ground, 1 kg", price: 12, currency: "EUR", available: true },
  table: {
    ships: [
      { name: "Meltemi", berth: 7 },
      { name: "Aura", berth: 8 },
    ],
  },
  map: {
    places: [
      { name: "Piraeus", lat: 37.94, lon: 23.64 },
      { name: "Kythira", lat: 36.15, lon: 22.99 },
    ],
  },
  chart: {
    points: [
      ["Mon", 3],
      ["Tue", 5],
      ["Wed", 4],
    ],
  },
  image: { image: dot, alt: "A dot" },
}

it("weather, product, table, map, chart and image are drawn as cards; what has none stays a line that opens", async () => {
  const house = admin()
  const space = await house.spaces.add({ name: "cards", kind: "public" })
  const schema = { type: "object", properties: { about: { type: "string" } } }
  for (const [name, result] of Object.entries(results)) await house.tool(`show_${name}`, schema, () => result)
  await house.tool("plain", schema, () => ({ ok: true, told: "<b>not markup</b>" }))
  for (const name of [...Object.keys(results).map((one) => `show_${one}`), "plain"])
    await house.tools.call(name, { input: { about: name }, space: space.id, wait: 10 })
  const { page } = await visitor({ width: 1280, height: 2400 })
  await signIn(page, token(), "/s/cards")
  await page.getByRole("button", { name: "7 calls" }).click()
  for (const name of Object.keys(results)) await page.locator(`[data-card=${name}]`).waitFor()
  await page.locator("[data-card=weather]").getByText("18°").waitFor()
  await page.locator("[data-card=product]").getByText("€12.00").waitFor()
  await page.getByRole("img", { name: /A map with Piraeus, Kythira/ }).waitFor()
  await page.getByRole("img", { name: /A line from Mon to Wed, between 3 and 5/ }).waitFor()
  const dot = page.getByRole("img", { name: "A dot" })
  await expect.poll(() => dot.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(1)
  await page.locator("summary", { hasText: "plain" }).click()
  await page.getByText("<b>not markup</b>").waitFor()
  await page.getByText("Allowed by").waitFor()
  // From a call to every rule that fits it, already filled in.
  await page.getByRole("link", { name: "Why?" }).click()
  await page.waitForURL(/\/why\?.*resource=tools%2Fplain/)
  expect(await page.getByRole("textbox", { name: "Resource" }).inputValue()).toBe("tools/plain")
  expect(await page.getByRole("combobox", { name: "May" }).inputValue()).toBe("admin")
  await page.getByText("Yes.", { exact: true }).waitFor()
  expect(consoleLines).toEqual([])
})

it("a picture whose address is not a file of the house is never asked for, whatever the result says and however often", async () => {
  const house = admin()
  const outside = await contacts(["elsewhere"])
  const space = await house.spaces.add({ name: "pictures", kind: "public" })
  await house.tool("show_picture", { type: "object" }, ({ image }) => ({ image, alt: "A picture" }))
  const show = (image: string) => house.tools.call("show_picture", { input: { image }, space: space.id, wait: 10 })
  const first = await show(dot)
  const held = `/api/v1/calls/${"id" in first ? first.id : "none"}?wait=200`
  const elsewhere = `//${outside.at["elsewhere"]}/a.png`
  const file = `/api/v1/files/fil_${"0a".repeat(32)}`
  const hostile = [
    ...Array.from({ length: 8 }, () => held),
    "/d/token",
    "/mcp",
    "/cards/ship",
    `${file}?wait=200`,
    `/x/..${held}`,
    `${url()}${held}`,
    `blob:${url()}/x`,
    `http:${elsewhere}`,
    elsewhere,
    `/\\${elsewhere.slice(2)}`,
    " /api/v1/me",
  ]
  for (const image of hostile) await show(image)
  const { page } = await visitor({ width: 1280, height: 2400 })
  const asked: Array<string> = []
  page.on("request", (request) => {
    if (["image", "media", "other"].includes(request.resourceType())) asked.push(request.url())
  })
  await signIn(page, token(), "/s/pictures")
  await page.getByRole("button", { name: `${hostile.length + 1} calls` }).click()
  // The one that may be shown is; what else it would have shown beside it has then been asked for.
  await page.getByRole("img", { name: "A picture" }).first().waitFor()
  await expect.poll(() => page.locator("summary", { hasText: "show_picture" }).count()).toBe(hostile.length + 1)
  // And one more, of a file: pictures are loaded in the order of the page.
  await show(file)
  await expect.poll(() => asked.filter((address) => address.endsWith(file)).length).toBeGreaterThan(0)
  const own = (address: string) =>
    address.startsWith("data:") || address === url() + file || address.startsWith(`${url()}/assets/`)
  expect(asked.filter((address) => !own(address))).toEqual([])
  expect(outside.made()).toEqual([])
  await outside.close()
})

/** Draws the ship, tries to get out by every way it knows, and says how that ended. */
const shipCard = `stoa.card((call, root) => {
  const name = document.createElement("h2")
  name.textContent = call.output[0] + " at berth " + call.output[1] + ", asked for " + call.input.about
  const tried = document.createElement("ul")
  root.append(name, tried)
  const say = (what, ended) => {
    const line = document.createElement("li")
    line.textContent = what + ": " + ended
    tried.append(line)
  }
  const read = (what, get) => {
    try { say(what, get() ? "got it" : "empty") } catch (error) { say(what, error.name) }
  }
  read("cookie", () => document.cookie)
  read("page", () => parent.document.body)
  read("store", () => localStorage.length + 1)
  fetch(call.input.house + "/api/v1/me", { credentials: "include" }).then(
    (answer) => say("api", answer.status),
    (error) => say("api", error.name),
  )
  const image = new Image()
  image.onload = () => say("image", "loaded")
  image.onerror = () => say("image", "refused")
  image.src = call.input.house + "/assets/decision.css"
  root.style.height = "5000px"
  for (let at = 0; at < 1000; at++) parent.postMessage({ height: 1 + (at % 40) }, "*")
  parent.postMessage({ call: "more", script: "<" + "script>alert(1)</script>" }, "*")
})
const never = "<!-- </script> is a text like any other"
`

it("an owner's own card draws a real call in a frame that reaches neither cookie, page, network nor API", async () => {
  const house = admin()
  mkdirSync(join(data, "cards"), { recursive: true })
  writeFileSync(join(data, "cards", "ship.js"), shipCard)
  await house.tools.add({
    name: "find_ship",
    description: "Where a ship lies",
    inputSchema: { type: "object", properties: { about: { type: "string" }, house: { type: "string" } } },
    executionType: "gateway",
    execution: { operation: "evaluate", expression: '["Meltemi", 7]' },
    display: { customUI: "ship" },
  })
  const space = await house.spaces.add({ name: "own-cards", kind: "public" })
  await house.tools.call("find_ship", { input: { about: "<b>mail</b>", house: url() }, space: space.id, wait: 10 })
  const { page } = await visitor()
  const told = consoleLines.length
  await signIn(page, token(), "/s/own-cards")
  const card = page.locator("iframe[title='find_ship, shown by the card ship']")
  await card.waitFor()
  const inside = card.contentFrame()
  await inside.getByRole("heading", { name: "Meltemi at berth 7, asked for <b>mail</b>" }).waitFor()
  await inside.getByText("api: TypeError").waitFor()
  await inside.getByText("image: refused").waitFor()
  const tried = await inside.getByRole("listitem").allTextContents()
  expect(tried).toEqual(
    expect.arrayContaining(["cookie: SecurityError", "page: SecurityError", "store: SecurityError"]),
  )
  expect(tried.some((line) => /got it|loaded|: \d/.test(line))).toBe(false)
  expect((await card.boundingBox())!.height).toBeLessThanOrEqual(600)
  // The browser tells in the console what the card was refused; the page itself says nothing.
  expect(
    consoleLines.splice(told).filter((line) => !/Content Security Policy|Connecting to|Loading the image/.test(line)),
  ).toEqual([])

  // Asked for by hand: with its own strict policy, for whoever is signed in, and no other file of the folder.
  const answer = await page.context().request.get(`${url()}/cards/ship`)
  const policy = answer.headers()["content-security-policy"]!
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-\S+';.*frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types default; sandbox allow-scripts$/,
  )
  for (const odd of ["/cards/none", "/cards/..%2Fadmin.token", "/cards/ship.js"])
    expect((await page.context().request.get(url() + odd)).status()).toBe(404)
  expect((await fetch(`${url()}/cards/ship`)).status).toBe(401)
})
