/** What is wrong with a screen, one line a fault: what axe finds, and what reaches out of the window. */
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

export const axeFindings = async (page: Page) => {
  // Just after a navigation the document is still empty, and axe would judge that.
  await page.locator("h1").first().waitFor({ state: "attached" })
  // What passes is of no interest, and finding a name for each of its nodes takes most of the time.
  const options = { resultTypes: ["violations" as const], selectors: false }
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options(options).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`)
}

export interface Form {
  readonly colorScheme: "light" | "dark"
  readonly viewport: { readonly width: number; readonly height: number }
}

/** 1280 pixels at four times their size. */
const zoomed: Form = { colorScheme: "light", viewport: { width: 320, height: 640 } }

/** What reaches out of the window and lies in nothing that scrolls by itself. */
const tooWide = () =>
  [...document.querySelectorAll("body *")].flatMap((one) => {
    const isHeld = one.closest(".scroll-x, pre, .vh, .skip") !== null
    return isHeld || one.getBoundingClientRect().right <= innerWidth + 1 ? [] : [one.outerHTML.slice(0, 120)]
  })

const nextFrame = () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))

/** Each screen is opened once and turned into each form: axe finds nothing, and nothing scrolls sideways. */
export const faultsOf = async (
  page: Page,
  url: string,
  screens: ReadonlyArray<readonly [name: string, path: string]>,
  forms: ReadonlyArray<Form>,
): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const [name, path] of screens) {
    await page.goto(url + path)
    await page.locator("h1").first().waitFor({ state: "attached" })
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" })
    for (const { colorScheme, viewport } of [...forms, zoomed]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      await page.evaluate(nextFrame)
      const { width } = viewport
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      if (wide > width)
        found.push(`${name} ${width}: ${wide} pixels wide`, ...(await page.evaluate(tooWide)).slice(0, 5))
      // It is the phone's, only narrower.
      if (width > zoomed.viewport.width)
        for (const fault of await axeFindings(page)) found.push(`${name} ${width} ${colorScheme}: ${fault}`)
    }
  }
  return found
}
