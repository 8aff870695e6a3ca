/**
 * The page in Chromium on a real house: how much a first visit loads and how soon it is drawn, beside a floor that only shows
 * the same screen as a document without scripts; how long frames take while much happens; how soon a long run is open.
 */
import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createServer, get, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { connect, type Stoa } from "@stoa/sdk"
import { chromiumPath } from "../test/programs.ts"
import { number, spread, table } from "./measure.ts"
import { ended, root, sleep, startHouse, temporaryFolder } from "./processes.ts"

const rounds = 5
const messages = 10_000
const seconds = 20
const spans = 2000

const addressOf = (server: ReturnType<typeof createServer>): Promise<string> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  )

/** A model of the usual wire format: it speaks fifty pieces a second, or calls three tools a step, until it is stopped. */
const startModel = async () => {
  const say = (response: ServerResponse, delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    )
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const end = (finish: string) => {
        say(response, {}, finish)
        response.end("data: [DONE]\n\n")
      }
      if (!body.includes("talk at length")) {
        const calls = [0, 1, 2].map((index) => ({
          index,
          id: `c${index}`,
          type: "function",
          function: { name: "berths", arguments: "{}" },
        }))
        say(response, { role: "assistant", tool_calls: calls })
        return end("tool_calls")
      }
      let left = 50 * seconds
      const timer = setInterval(() => {
        if (left-- > 0) return void say(response, { role: "assistant", content: `word${left} ` })
        clearInterval(timer)
        end("stop")
      }, 20)
      response.on("close", () => clearInterval(timer))
    })
  })
  return { url: `${await addressOf(server)}/v1`, stop: () => server.close() }
}

const gzipSize = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip" } }, (response) => {
      let bytes = 0
      response.on("data", (chunk: Buffer) => (bytes += chunk.length))
      response.on("end", () => resolve(bytes))
    }).on("error", reject)
  })

const buildTime = async (folder: string): Promise<number> => {
  const started = performance.now()
  const args = [join(root, "packages/web/build.ts"), "--into", join(folder, "built")]
  await ended(spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] }))
  return (performance.now() - started) / 1000
}

/** Runs in the page from its first moment: the largest paint, and the longest time between two frames. */
const watch = () => {
  const seen = { paint: 0, longest: 0, frames: 0 }
  Object.assign(window, { seen })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.paint = entry.startTime
  }).observe({ type: "largest-contentful-paint", buffered: true })
  let last = performance.now()
  const frame = (at: number) => {
    seen.longest = Math.max(seen.longest, at - last)
    seen.frames++
    last = at
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}
interface Seen {
  paint: number
  longest: number
  frames: number
}
const seenBy = (page: Page): Promise<Seen> => page.evaluate(() => ({ ...(window as unknown as { seen: Seen }).seen }))
const forget = (page: Page) =>
  page.evaluate(() => void Object.assign((window as unknown as { seen: Seen }).seen, { longest: 0, frames: 0 }))

/** Everything on screen, as a document: no script, the same styles. */
const withoutScripts = (page: Page, origin: string): Promise<string> =>
  page.evaluate((base) => {
    const copy = document.documentElement.cloneNode(true) as HTMLElement
    for (const one of copy.querySelectorAll("script, link[rel=modulepreload]")) one.remove()
    for (const one of copy.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]"))
      one.href = `${base}${new URL(one.href).pathname}`
    return `<!doctype html>${copy.outerHTML}`
  }, origin)

const paints = async (browser: Browser, state: Awaited<ReturnType<BrowserContext["storageState"]>>, url: string) => {
  const cold: Array<number> = []
  const warm: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, storageState: state })
    await context.addInitScript(watch)
    const page = await context.newPage()
    for (const kept of [cold, warm]) {
      await page.goto(url)
      await page.getByText("newest of all").first().waitFor()
      await sleep(300)
      kept.push((await seenBy(page)).paint)
    }
    await context.close()
  }
  return { cold, warm }
}

const furnish = async (admin: Stoa) => {
  const { items } = await admin.principals.list({ limit: 1 })
  const space = await admin.spaces.add({ name: "harbour", kind: "public" })
  for (let at = 0; at < messages; at += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, one) => admin.spaces.post(space.id, { text: `message ${at + one} of many` })),
    )
  await admin.spaces.post(space.id, { text: "newest of all" })
  return { space, me: items[0]! }
}

const agent = async (admin: Stoa, name: string, steps: number) => {
  const made = await admin.principals.add({
    kind: "agent",
    name,
    roles: ["agent-standard"],
    toolsets: ["team", "stoa"],
  })
  await admin.agents.change(name, { model: "loop", limits: { steps, minutes: 60 } })
  return made
}
const until = async <A>(ask: () => Promise<A | undefined>): Promise<A> => {
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    await sleep(100)
  }
}

export const page = async (): Promise<string> => {
  const folder = temporaryFolder()
  const model = await startModel()
  const tool = { description: "Says berths.", inputSchema: { type: "object" }, executionType: "internal" }
  const house = await startHouse(join(folder, "data"), {
    config: {
      models: { loop: { provider: "openai-compatible", id: "m", baseUrl: model.url } },
      tools: [{ name: "berths", ...tool, execution: { output: { berths: [7, 8] } } }],
    },
  })
  const origin = `http://127.0.0.1:${house.port}`
  const admin = connect({ url: origin, token: house.token })
  mkdirSync(join(folder, "tmp"))
  const build = await buildTime(folder)
  const { space } = await furnish(admin)
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ["--no-sandbox", "--disable-gpu"],
    env: { ...(process.env as Record<string, string>), TMPDIR: join(folder, "tmp") },
  })
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    await context.addInitScript(watch)
    const tab = await context.newPage()
    // The page may still be being built: it reloads by itself.
    await tab.goto(`${origin}/#token=${encodeURIComponent(house.token)}`)
    await tab.locator("nav[aria-label=Main]").first().waitFor({ state: "attached", timeout: 60_000 })
    const scripts = new Set<string>()
    tab.on("response", (response) => {
      if (response.request().resourceType() === "script") scripts.add(response.url())
    })
    await tab.goto(`${origin}/s/harbour`)
    await tab.getByText("newest of all").first().waitFor()
    const first = [...scripts]
    const bytes = (await Promise.all(first.map(gzipSize))).reduce((sum, one) => sum + one, 0)

    const html = await withoutScripts(tab, origin)
    const floor = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(html))
    const state = await context.storageState()
    const ours = await paints(browser, state, `${origin}/s/harbour`)
    const theirs = await paints(browser, state, await addressOf(floor))
    floor.close()

    // Ten thousand messages: up through some of the past, and to the newest again.
    await forget(tab)
    await tab.getByRole("log").hover()
    for (let turn = 0; turn < 60; turn++) await tab.mouse.wheel(0, -1200)
    await sleep(500)
    const scrolled = await seenBy(tab)
    await tab.getByRole("button", { name: "To the newest" }).click()
    await tab.getByText("newest of all").first().waitFor()

    await forget(tab)
    const started = performance.now()
    let posted = 0
    const posts: Array<Promise<unknown>> = []
    while (performance.now() - started < seconds * 1000) {
      for (; posted < ((performance.now() - started) / 1000) * 100; posted++)
        posts.push(admin.spaces.post(space.id, { text: `event ${posted}` }))
      await sleep(10)
    }
    await Promise.all(posts)
    await tab.getByText(`event ${posted - 1}`, { exact: true }).waitFor()
    const busy = await seenBy(tab)

    // A run of many spans, opened from the list.
    await agent(admin, "long", spans / 5)
    const { run: long } = await admin.agents.trigger("long", { text: "many steps" })
    await until(async () => ((await admin.runs.get(long)).endedAt === null ? undefined : true))
    const opened: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      await tab.goto(`${origin}/runs`)
      const link = tab.locator(`a[href="/runs/${long}"]`).first()
      await link.waitFor()
      opened.push(
        await link.evaluate(
          (one: HTMLElement) =>
            new Promise<number>((resolve) => {
              const began = performance.now()
              one.click()
              const look = () => {
                const rows = document.querySelectorAll("[role=treegrid] [role=row]").length
                if (rows > 10) requestAnimationFrame(() => resolve(performance.now() - began))
                else requestAnimationFrame(look)
              }
              look()
            }),
        ),
      )
    }
    const rows = await tab.getByRole("treegrid").getAttribute("aria-rowcount")

    await agent(admin, "speaker", 3)
    const { run: live } = await admin.agents.trigger("speaker", { text: "talk at length" })
    await tab.goto(`${origin}/runs/${live}`)
    await tab.getByRole("treegrid").waitFor()
    await sleep(1000)
    await forget(tab)
    await until(async () => ((await admin.runs.get(live)).endedAt === null ? undefined : true))
    const followed = await seenBy(tab)

    const frame = ({ frames, longest }: Seen) => `${number(longest)} ms of ${frames} frames`
    return [
      `${rounds} rounds where there is a spread. Largest paint is Chromium's own, on loopback; the floor is the same screen as a document without scripts, from a bare node:http. Frames are those between two requestAnimationFrame.`,
      table(
        ["what", "measured", "floor", "budget"],
        [
          ["first load: JavaScript, gzip, kB", number(bytes / 1000), "0", "220"],
          ["first load: script files", String(first.length), "0", ""],
          ["build of the page, s", number(build), "", ""],
          ["largest paint, cold, ms", spread(ours.cold), spread(theirs.cold), "1,000"],
          ["largest paint, warm, ms", spread(ours.warm), spread(theirs.warm), "400"],
          [`${messages} messages, scrolled: longest frame`, frame(scrolled), "", "50 ms"],
          [`100 events/s for ${seconds} s: longest frame`, frame(busy), "", "50 ms"],
          [`run of ${spans} spans opened (${rows ?? "?"} rows), ms`, spread(opened), "", "300"],
          [`run followed at 50 deltas/s for ${seconds} s: longest frame`, frame(followed), "", "50 ms"],
        ],
      ),
    ].join("\n\n")
  } finally {
    await browser.close()
    await house.stop()
    model.stop()
  }
}
