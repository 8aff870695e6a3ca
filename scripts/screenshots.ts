// `npm run screenshots [folder]`: every screen of the page, from a real house, by day and night, wide and on a phone.
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { connect } from "@stoa/sdk"
import { chromium } from "playwright-core"
import { Home } from "../packages/cli/test/houseProcess.ts"
import { chromiumPath, installPrograms } from "../test/programs.ts"
import { screens, sizes } from "../packages/web/test/browser/screens.ts"
import { seed } from "../packages/web/test/browser/seed.ts"
import { home as root } from "./checks/kit.ts"
import "./leash.ts"

const folder = resolve(process.argv[2] ?? join(root, "dist/screenshots"))
mkdirSync(folder, { recursive: true })
execFileSync(process.execPath, [join(root, "packages/web/build.ts")])

const home = new Home({ STOA_DEMO: "off" })
const house = await home.start()
installPrograms()
const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ["--no-sandbox", "--disable-gpu"],
  env: { ...(process.env as Record<string, string>), TMPDIR: home.folder },
})
try {
  const { maya } = await seed({
    admin: () => house.admin,
    as: (token) => connect({ url: house.url, token }),
    person: async (name, roles) => {
      const made = await house.admin.principals.add({ kind: "person", name, roles: roles ?? [] })
      const { token } = await house.admin.tokens.add({ principal: made.id })
      return { id: made.id, name, token }
    },
  })
  for (const colorScheme of ["light", "dark"] as const)
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" })
      const page = await context.newPage()
      await page.goto(`${house.url}/#token=${encodeURIComponent(maya.token)}`)
      await page.locator("nav[aria-label=Main]").first().waitFor({ state: "attached" })
      for (const [name, path] of screens) {
        await page.goto(house.url + path)
        await page.locator("h1").first().waitFor()
        await page.waitForTimeout(400)
        await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) })
      }
      await context.close()
    }
  console.log(`${screens.length * 4} pictures in ${folder}`)
} finally {
  await browser.close()
  await home.remove()
}
process.exit(0)
