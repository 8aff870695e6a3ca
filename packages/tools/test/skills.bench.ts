/** S4-108: a built-in skill takes less than 100 ms, without what outside services take. `npx vitest bench` runs it. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { CurrentEgressPolicy } from "../src/egress/Egress.ts"
import { defaultEgressPolicy } from "../src/egress/Policy.ts"
import { sandboxLayer } from "../src/sandbox/Sandbox.ts"
import { codeExecute } from "../src/skills/codeExecute.ts"
import { fileRead, fileWrite } from "../src/skills/files.ts"
import { httpGet } from "../src/skills/httpGet.ts"
import { CurrentSkillsConfig, defaultSkillsConfig } from "../src/skills/SkillsConfig.ts"
import { webSearch } from "../src/skills/webSearch.ts"
import { CurrentToolsConfig, defaultToolsConfig } from "../src/ToolsConfig.ts"
import { call } from "./skillsCall.ts"

const base = mkdtempSync(join(tmpdir(), "skills-bench-"))
writeFileSync(join(base, "page.txt"), "x".repeat(10_000))
const server = createServer((_, response) => response.end('{"results":[]}'))
let url = ""
const warm = ManagedRuntime.make(sandboxLayer())

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await warm.runPromise(codeExecute.handler({ code: "1" }, call))
})
afterAll(async () => {
  server.close()
  await warm.dispose()
})

const settled = <A, E>(effect: Effect.Effect<A, E>) =>
  warm.runPromise(
    effect.pipe(
      Effect.provideService(CurrentToolsConfig, {
        ...defaultToolsConfig,
        security: { ...defaultToolsConfig.security, allowedFilePathPrefix: base },
      }),
      Effect.provideService(CurrentEgressPolicy, { ...defaultEgressPolicy, allow: ["127.0.0.1"] }),
      Effect.provideService(CurrentSkillsConfig, {
        ...defaultSkillsConfig,
        search: { provider: "tavily", key: Redacted.make("k"), endpoint: url },
      }),
    ),
  )

/** By name, what one execution is. The cold one pays for a new pool: a thread, its modules, the interpreter. */
const cases: ReadonlyArray<readonly [name: string, run: () => Promise<unknown>]> = [
  ["file-read, 10 kB", () => settled(fileRead.handler({ path: "page.txt" }, call))],
  ["file-write, synced", () => settled(fileWrite.handler({ path: "out.txt", content: "x" }, call))],
  ["http-get, loopback", () => settled(httpGet.handler({ url }, call))],
  ["web-search, loopback", () => settled(webSearch.handler({ query: "q" }, call))],
  ["code-execute, warm", () => settled(codeExecute.handler({ code: "1 + 1" }, call))],
]
const cold = () =>
  Effect.runPromise(codeExecute.handler({ code: "1 + 1" }, call).pipe(Effect.provide(Layer.fresh(sandboxLayer()))))

describe("S4-108 built-in execution under 100 ms", () => {
  for (const [name, run] of cases)
    it(name, async ({ bench }) => {
      const result = await bench(name, async () => void (await run())).run({ time: 1000 })
      expect(result.latency.p50).toBeLessThan(100)
    })
  // Said, not promised: it happens once in the life of a process.
  it("code-execute, cold", async ({ bench }) => {
    await bench("code-execute, cold", async () => void (await cold())).run({ time: 2000 })
  })
})
