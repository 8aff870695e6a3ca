/** What the figures of the page are taken with: a model that speaks without end, and ears in the page itself. */
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer, get, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { ended, environment, root, sleep } from "../processes.ts"

/**
 * The window is as large as the page: where Playwright makes them differ, Chromium draws the frames that nobody would see
 * late, and says so of presses too.
 */
export const windowSize = ["--window-size=1280,900"]
export const windowContext = { viewport: null }

export const addressOf = (server: ReturnType<typeof createServer>): Promise<string> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  )

/** A model of the usual wire format: it speaks fifty pieces a second, or calls three tools a step, until it is stopped. */
export const startModel = async (seconds: number) => {
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

export const gzipSize = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip" } }, (response) => {
      let bytes = 0
      response.on("data", (chunk: Buffer) => (bytes += chunk.length))
      response.on("end", () => resolve(bytes))
    }).on("error", reject)
  })

export const buildTime = async (folder: string): Promise<number> => {
  const started = performance.now()
  const args = [join(root, "packages/web/build.ts"), "--into", join(folder, "built")]
  await ended(spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] }))
  return (performance.now() - started) / 1000
}

/** Runs in the page from its first moment: the largest paint, and the longest time between two frames. */
export const recordTimings = () => {
  const seen = { paint: 0, longest: 0, frames: 0, presses: {} as Record<number, number> }
  Object.assign(window, { seen })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.paint = entry.startTime
  }).observe({ type: "largest-contentful-paint", buffered: true })
  // From a press to the picture that answers it, as the browser itself measures it; below 16 ms it tells nothing.
  new PerformanceObserver((list) => {
    for (const { duration, interactionId = 0 } of list.getEntries() as Array<
      PerformanceEntry & { readonly interactionId?: number }
    >)
      // One press is several events; the slowest of them counts.
      if (interactionId > 0) seen.presses[interactionId] = Math.max(seen.presses[interactionId] ?? 0, duration)
  }).observe({ type: "event", durationThreshold: 16, buffered: true } as PerformanceObserverInit)
  let last = performance.now()
  const frame = (at: number) => {
    seen.longest = Math.max(seen.longest, at - last)
    seen.frames++
    last = at
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}
export interface PageTimings {
  paint: number
  longest: number
  frames: number
  /** By the browser's number of the press. */
  presses: Readonly<Record<number, number>>
}
export const timingsOf = (page: Page): Promise<PageTimings> =>
  page.evaluate(() => ({ ...(window as unknown as { seen: PageTimings }).seen }))
export const resetTimings = (page: Page) =>
  page.evaluate(
    () => void Object.assign((window as unknown as { seen: PageTimings }).seen, { longest: 0, frames: 0, presses: {} }),
  )

/** Everything on screen, as a document: no script, the same styles. */
export const withoutScripts = (page: Page, origin: string): Promise<string> =>
  page.evaluate((base) => {
    const copy = document.documentElement.cloneNode(true) as HTMLElement
    for (const one of copy.querySelectorAll("script, link[rel=modulepreload]")) one.remove()
    for (const one of copy.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]"))
      one.href = `${base}${new URL(one.href).pathname}`
    return `<!doctype html>${copy.outerHTML}`
  }, origin)

export const paints = async (
  browser: Browser,
  state: Awaited<ReturnType<BrowserContext["storageState"]>>,
  url: string,
  rounds: number,
) => {
  const cold: Array<number> = []
  const warm: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext({ ...windowContext, storageState: state })
    await context.addInitScript(recordTimings)
    const page = await context.newPage()
    for (const kept of [cold, warm]) {
      await page.goto(url)
      await page.getByText("newest of all").first().waitFor()
      await sleep(300)
      kept.push((await timingsOf(page)).paint)
    }
    await context.close()
  }
  return { cold, warm }
}

/** Of what was built, gzipped: all styles of the first load, the signs, and the largest script that is loaded later. */
export const builtSizes = (built: string, first: ReadonlyArray<string>) => {
  const assets = join(built, "assets")
  const files = readdirSync(assets).filter((name) => /\.(js|css|svg)$/.test(name))
  const sizeOf = (name: string) => gzipSync(readFileSync(join(assets, name))).length
  const html = readFileSync(join(built, "index.html"), "utf8")
  const later = files.filter((name) => name.endsWith(".js") && !first.some((url) => url.endsWith(name)))
  const sum = (names: ReadonlyArray<string>) => names.reduce((all, name) => all + sizeOf(name), 0)
  return {
    styles: sum(files.filter((name) => name.endsWith(".css") && html.includes(name))),
    signs: sum(files.filter((name) => name.endsWith(".svg") && name.includes("sprite"))),
    largest: Math.max(0, ...later.map(sizeOf)),
  }
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly link?: boolean
}

/** The packages that nothing but the page needs: how many files and megabytes, and how long it takes to lay them out. */
export const addedInstall = (folder: string) => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const reached = (from: ReadonlyArray<string>): ReadonlySet<string> => {
    const found = new Set<string>()
    const visit = (names: ReadonlyArray<string>) => {
      for (const name of names) {
        const path = `node_modules/${name}`
        const one = lock.packages[path]
        if (one === undefined || one.link === true || found.has(path)) continue
        found.add(path)
        visit(Object.keys({ ...one.dependencies, ...one.optionalDependencies }))
      }
    }
    for (const place of from) {
      const { dependencies, devDependencies, optionalDependencies } = lock.packages[place] ?? {}
      visit(Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    }
    return found
  }
  const places = Object.keys(lock.packages).filter((path) => path === "" || /^(packages|scripts|test|bench)/.test(path))
  const others = reached(places.filter((path) => path !== "packages/web"))
  const own = [...reached(["packages/web"])].filter(
    // Those for other machines are not here.
    (path) => !others.has(path) && existsSync(join(root, path)),
  )
  const into = join(folder, "laid-out")
  mkdirSync(into)
  const started = performance.now()
  for (const path of own) cpSync(join(root, path), join(into, path.replaceAll("/", "+")), { recursive: true })
  const seconds = (performance.now() - started) / 1000
  const files = readdirSync(into, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const bytes = files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
  rmSync(into, { recursive: true })
  return { packages: own.length, files: files.length, megabytes: bytes / 1e6, seconds }
}

/** As a newcomer: `npm start` on a new folder, the printed link, and the first word of the demo on the screen. */
export const firstStart = async (browser: Browser, folder: string): Promise<{ link: number; word: number }> => {
  const started = performance.now()
  const since = () => (performance.now() - started) / 1000
  const env = environment({ STOA_DATA: join(folder, "newcomer"), STOA_PORT: "0" })
  const child = spawn("npm", ["start"], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"], detached: true })
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = ""
      child.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString()
        const found = /http:\S+#token=\S+/.exec(said)
        if (found !== null) resolve(found[0])
      })
      child.once("exit", (code) => reject(new Error(`npm start ended: ${code}`)))
    })
    const link = since()
    const context = await browser.newContext(windowContext)
    const page = await context.newPage()
    await page.goto(address)
    await page.getByRole("article").getByText("Welcome").first().waitFor({ timeout: 120_000 })
    const word = since()
    await context.close()
    return { link, word }
  } finally {
    // With everything it started; nothing is left of one that could not start.
    if (child.exitCode === null) process.kill(-child.pid!, "SIGTERM")
    await ended(child)
  }
}

/** What the page holds on to, after the rubbish is taken away. */
export const heapOf = async (page: Page): Promise<number> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("HeapProfiler.collectGarbage")
  const { usedSize } = await devtools.send("Runtime.getHeapUsage")
  await devtools.detach()
  return usedSize / 1e6
}
