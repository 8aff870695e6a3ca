/** One house and one browser for the tests of a file: a real process on a free port, and pages that must stay quiet. */
import { rmSync } from "node:fs"
import { connect, type Stoa } from "@stoa/sdk"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, afterEach, beforeAll } from "vitest"
import { Home, type House } from "../../../../cli/test/kit/home.ts"
import { chromiumPath } from "../../../../../test/programs.ts"

export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
}

export interface HouseInBrowserOptions {
  readonly configuration?: Readonly<Record<string, unknown>>
  /** As a newcomer's house: without a configuration file, and so with the demo. */
  readonly demo?: boolean
}

/** No fault of the page: the browser itself tells of every answer that is not 2xx. A page that is not signed in asks first. */
const expected = /Failed to load resource(?!.*\b401\b)|net::ERR_/
const wide = { width: 1280, height: 900 }
export const phone = { width: 390, height: 844 }

export const houseInBrowser = ({ configuration = {}, demo = false }: HouseInBrowserOptions = {}) => {
  const home = new Home(demo ? { STOA_CONFIG: "stoa.config.json" } : { STOA_DEMO: "off" })
  let house: House
  let browser: Browser | undefined
  /** Whatever the consoles of all pages have said. */
  const consoleLines: Array<string> = []

  beforeAll(async () => {
    if (demo) rmSync(home.config)
    else home.configure(configuration)
    house = await home.start()
    browser = await chromium.launch({
      executablePath: chromiumPath(),
      args: ["--no-sandbox", "--disable-gpu"],
      // What it leaves behind goes with the home.
      env: { ...(process.env as Record<string, string>), TMPDIR: home.folder },
    })
  }, 120_000)
  /** A page that nobody looks at any more would go on drawing what happens. */
  const open: Array<BrowserContext> = []
  afterEach(async () => void (await Promise.all(open.splice(0).map((context) => context.close()))))
  afterAll(async () => {
    await browser?.close()
    await home.remove()
  })

  const listen = (page: Page) => {
    page.on("console", (message) => {
      if (!expected.test(message.text())) consoleLines.push(`${message.type()}: ${message.text()}`)
    })
    page.on("pageerror", (error) => consoleLines.push(`error: ${error.message}`))
    return page
  }
  return {
    consoleLines,
    listen,
    /** Where the house keeps its data. */
    data: home.data,
    url: () => house.url,
    token: () => house.token,
    admin: (): Stoa => house.admin,
    as: (token: string): Stoa => connect({ url: house.url, token }),
    /** As a machine that loses its power. */
    kill: () => house.kill(),
    restart: async () => {
      house = await home.restart(house)
    },
    /** A browser of its own, for one test. */
    visitor: async (viewport = wide, more: Parameters<Browser["newContext"]>[0] = {}): Promise<Visitor> => {
      const context = await browser!.newContext({ viewport, reducedMotion: "reduce", ...more })
      // It ends what hangs; a slow machine is no reason to fail.
      context.setDefaultTimeout(60_000)
      open.push(context)
      return { page: listen(await context.newPage()), context }
    },
    signIn: async (page: Page, token: string, path = "/") => {
      await page.goto(`${house.url}/#token=${encodeURIComponent(token)}`)
      await page.locator("nav[aria-label=Main]").first().waitFor({ state: "attached" })
      if (path !== "/") await page.goto(house.url + path)
    },
    /** Somebody new, and a token of theirs. */
    person: async (name: string, roles: ReadonlyArray<"admin" | "member" | "guest"> = ["member"]) => {
      const made = await house.admin.principals.add({ kind: "person", name, roles })
      const issued = await house.admin.tokens.add({ principal: made.id })
      return { id: made.id, name, token: issued.token }
    },
  }
}
