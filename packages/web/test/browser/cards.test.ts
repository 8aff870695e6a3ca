/** Each card of a result, shown by a real call of a tool of this process. */
import { expect, it } from "vitest"
import { stage } from "./stage.ts"

const { admin, said, signIn, token, visitor } = stage()

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
  expect(await page.getByRole("img", { name: "A dot" }).evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(
    1,
  )
  await page.locator("summary", { hasText: "plain" }).click()
  await page.getByText("<b>not markup</b>").waitFor()
  await page.getByText("Allowed by").waitFor()
  expect(said).toEqual([])
}, 60_000)
