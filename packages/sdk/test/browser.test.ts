/** The SDK with nothing but what browsers give to a page. (That it imports no Node built-in is the floors check's.) */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { afterAll, expect, it } from "vitest"
import { Home } from "../../cli/test/kit/home.ts"

const home = new Home()
afterAll(() => home.remove())

it("both clients work with web globals only", async () => {
  const { token, url } = await home.start()
  const page = new Worker(new URL("./kit/browserWorker.ts", import.meta.url), { workerData: { token, url } })
  const [seen] = (await once(page, "message")) as [Record<string, unknown>]
  expect(seen).toMatchObject({ globals: [], made: "Browser", effect: "Effectful", first: 1 })
  expect(seen["names"]).toContain("principal.added")
  await page.terminate()
})
