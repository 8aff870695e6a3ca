/** What axe finds on a screen that has begun, one line a finding. */
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

export const axeFindings = async (page: Page) => {
  // Just after a navigation the document is still empty, and axe would judge that.
  await page.locator("h1").first().waitFor({ state: "attached" })
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`)
}
