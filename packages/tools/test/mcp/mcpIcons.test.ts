/** Icons of a server are shown by whoever lists its things: only what is a picture and nothing else is passed on. */
import { assert, describe, it } from "@effect/vitest"
import { isSafeMCPIcon, repairMCPResult } from "../../src/mcp/client/tools/MCPResult.ts"

/** A small generator with a seed (mulberry32). */
const seeded = (seed: number) => {
  let at = seed >>> 0
  const next = (): number => {
    at = (at + 0x6d2b79f5) >>> 0
    let t = Math.imul(at ^ (at >>> 15), at | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (most: number) => Math.floor(next() * most)
  return { below, pick: <A>(from: ReadonlyArray<A>): A => from[below(from.length)]! }
}

const good = [
  "https://icons.example/a.png",
  "HTTPS://icons.example/a",
  "data:image/png;base64,iVBORw0KGgo=",
  "data:image/webp;base64,AAAA",
]
const bad: ReadonlyArray<unknown> = [
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  "java\nscript:alert(1)",
  " javascript:alert(1)",
  "\u0001javascript:alert(1)",
  "file:///etc/passwd",
  "http://icons.example/a.png",
  "//icons.example/a.png",
  "/a.png",
  "ftp://icons.example/a",
  "blob:https://icons.example/1",
  "data:text/html;base64,PHNjcmlwdD4=",
  "data:image/svg+xml;base64,PHN2Zz4=",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "data:image/png,<svg>",
  "data:image/png;base64,AA<A",
  "data:,x",
  "https://user:pass@icons.example/a.png",
  "https:icons.example",
  `data:image/png;base64,${"A".repeat(70_000)}`,
  "",
  5,
  null,
  {},
]

const places = {
  tools: (icons: unknown) => ({ tools: [{ name: "t", inputSchema: { type: "object" }, icons }] }),
  resources: (icons: unknown) => ({ resources: [{ uri: "a://b", name: "r", icons }] }),
  templates: (icons: unknown) => ({ resourceTemplates: [{ uriTemplate: "a://{b}", name: "r", icons }] }),
  prompts: (icons: unknown) => ({ prompts: [{ name: "p", icons }] }),
  "a link in a result": (icons: unknown) => ({ content: [{ type: "resource_link", uri: "a://b", name: "r", icons }] }),
  "a link in a prompt": (icons: unknown) => ({
    messages: [{ role: "user", content: { type: "resource_link", uri: "a://b", name: "r", icons } }],
  }),
  "a link in a task's result": (icons: unknown) => ({
    taskId: "t",
    status: "completed",
    result: { content: [{ type: "resource_link", uri: "a://b", name: "r", icons }] },
  }),
}

describe("icons", () => {
  it("https and pictures that came along are shown, and nothing else", () => {
    for (const src of good) assert.isTrue(isSafeMCPIcon({ src }), src)
    for (const src of bad) assert.isFalse(isSafeMCPIcon({ src }), String(src).slice(0, 80))
  })

  for (const [place, make] of Object.entries(places))
    it(`2,000 mixtures of icons of ${place}: the safe ones stay, in their order`, () => {
      for (let seed = 1; seed <= 2000; seed++) {
        const random = seeded(seed)
        const all = Array.from({ length: random.below(8) }, () => ({ src: random.pick<unknown>([...good, ...bad]) }))
        const result = make(all) as Record<string, unknown>
        repairMCPResult(result)
        const left = JSON.stringify(result)
        const safe = all.filter(({ src }) => (good as ReadonlyArray<unknown>).includes(src))
        assert.strictEqual(left.includes('"icons"'), safe.length > 0, `seed ${seed}`)
        assert.isFalse(/javascript:|file:|svg|http:/i.test(left), `seed ${seed}`)
        if (safe.length > 0) assert.include(left, JSON.stringify(safe), `seed ${seed}`)
      }
    })

  it("as many as a client would choose from", () => {
    const result = { prompts: [{ name: "p", icons: Array.from({ length: 100 }, () => ({ src: good[0] })) }] }
    repairMCPResult(result)
    assert.lengthOf(result.prompts[0]!.icons, 16)
  })
})
