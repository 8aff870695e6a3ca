/** An hour at a hundred messages a second: the page shows the newest, and holds no more at its end than after its first minutes. */
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

/** Fewer are for whoever tries the test itself. */
const minutes = Number(process.env["STOA_LONG_MINUTES"] ?? 60)
const perSecond = 100
/** Megabytes: what page.md allows, and by how much it may differ between two looks: 0.3 in an hour without a leak. */
const maxHeld = 150
const spread = 2

const unlimited = [{ principal: "*", resource: "*", count: 10_000_000, seconds: 60 }]
const { admin, consoleLines, signIn, token, visitor } = houseInBrowser({ configuration: { limits: unlimited } })

/** What the page holds on to. */
const heldBy = async (page: Page): Promise<number> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("HeapProfiler.collectGarbage")
  const { usedSize } = await devtools.send("Runtime.getHeapUsage")
  await devtools.detach()
  return usedSize / 1e6
}

it(
  "a hundred a second for an hour: what the page holds on to stays the same, and the newest is there, once",
  async () => {
    const space = await admin().spaces.add({ name: "hour", kind: "public" })
    const { page } = await visitor()
    await signIn(page, token(), "/s/hour")
    const began = performance.now()
    let posted = 0
    const minute = async () => {
      for (let tens = 0; tens < perSecond * 6; tens++) {
        const first = posted
        posted += 10
        await Promise.all(
          Array.from({ length: 10 }, (_, at) => admin().spaces.post(space.id, { text: `line ${first + at}` })),
        )
        const early = began + (posted / perSecond) * 1000 - performance.now()
        if (early > 0) await new Promise((go) => setTimeout(go, early))
      }
      const last = `the last of ${posted}`
      await admin().spaces.post(space.id, { text: last })
      await page.getByText(last, { exact: true }).waitFor()
      expect(await page.getByText(last, { exact: true }).count()).toBe(1)
      return heldBy(page)
    }
    const held: Array<number> = []
    while (held.length < minutes) held.push(await minute())
    console.log(`held, MB, minute by minute: ${held.map((one) => one.toFixed(1)).join(" ")}`)
    expect(Math.max(...held)).toBeLessThan(maxHeld)
    // The first minutes fill what is kept; from then on nothing is added.
    const first = Math.max(...held.slice(0, Math.ceil(minutes / 4)))
    expect(Math.max(...held.slice(Math.ceil(minutes / 4)))).toBeLessThan(first + spread)
    expect(consoleLines).toEqual([])
  },
  minutes * 60_000 * 3,
)
