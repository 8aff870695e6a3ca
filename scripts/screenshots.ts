// `npm run screenshots [folder]`: every screen of the page, from a real house, by day and night, wide and on a phone.
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import { connect, type Stoa } from "@stoa/sdk"
import { chromium, type Page } from "playwright-core"
import { Home } from "../packages/cli/test/kit/home.ts"
import { chromiumPath, installPrograms } from "../test/programs.ts"
import { inDemo, screens, sizes } from "../packages/web/test/browser/kit/screens.ts"
import { fillOffice } from "../packages/web/test/browser/kit/office.ts"
import { home as root } from "./checks/kit.ts"
import "./exitWithParent.ts"

const folder = resolve(process.argv[2] ?? join(root, "dist/screenshots"))
mkdirSync(folder, { recursive: true })
execFileSync(process.execPath, [join(root, "packages/web/build.ts")])

const home = new Home({ STOA_DEMO: "off" })
const newcomers = new Home({ STOA_CONFIG: "stoa.config.json" })
rmSync(newcomers.config)
installPrograms()
const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ["--no-sandbox", "--disable-gpu"],
  env: { ...(process.env as Record<string, string>), TMPDIR: home.folder },
})
const forms = (["light", "dark"] as const).flatMap((colorScheme) =>
  Object.entries(sizes).map(([size, viewport]) => ({ colorScheme, size, viewport })),
)

const begun = (page: Page) => page.locator("h1").first().waitFor()

const draw = async (url: string, token: string, list: typeof screens) => {
  for (const { colorScheme, size, viewport } of forms) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" })
    const page = await context.newPage()
    await page.goto(`${url}/#token=${encodeURIComponent(token)}`)
    await page.locator("nav[aria-label=Main]").first().waitFor({ state: "attached" })
    for (const [name, path] of list) {
      await page.goto(url + path)
      await begun(page)
      await page.waitForTimeout(400)
      await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) })
    }
    await context.close()
  }
}
/** The office has spoken, asked and ended something: then there is something to draw. */
const isAlive = async (admin: Stoa): Promise<void> => {
  for (;;) {
    const open = (await admin.decisions.list({ state: "open" })).items.length
    if (open > 2) return
    await new Promise((next) => setTimeout(next, 200))
  }
}

try {
  const house = await home.start()
  const { maya } = await fillOffice({
    admin: () => house.admin,
    as: (token) => connect({ url: house.url, token }),
    person: async (name, roles) => {
      const made = await house.admin.principals.add({ kind: "person", name, roles: roles ?? [] })
      const { token } = await house.admin.tokens.add({ principal: made.id })
      return { id: made.id, name, token }
    },
  })
  await draw(house.url, maya.token, screens)
  const office = await newcomers.start()
  // Somebody has to come before the office opens.
  const first = await browser.newPage()
  await first.goto(`${office.url}/#token=${encodeURIComponent(office.token)}`)
  await begun(first)
  await isAlive(office.admin)
  await first.close()
  const demo = await inDemo(office.admin)
  await draw(office.url, office.token, demo)
  console.log(`${(screens.length + demo.length) * forms.length} pictures in ${folder}`)
} finally {
  await browser.close()
  await home.remove()
  await newcomers.remove()
}
process.exit(0)
