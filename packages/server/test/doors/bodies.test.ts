/** Whatever is wrong with a body, and however much of it there is: it is refused at every door before it is parsed, in few words. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Guest, house } from "../house.ts"

const many = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join(",")
const bodies = [
  [`{${many(10_001, (at) => `"k${at}":1`)}}`, /more than 10000 members/],
  [`{"name":"x","kind":"agent","toolsets":[${many(400_000, () => "1")}]}`, /more than 20000 values/],
  [`{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /more than 200 deep/],
  [`{"a":${'{"a":'.repeat(300)}1${"}".repeat(300)}}`, /more than 200 deep/],
] as const

describe("bodies at the doors", () => {
  layer(house({ store: "sqlite" }), { timeout: 60_000 })((it) => {
    it.effect(
      "of too many values or too deep: refused by that number, at HTTP and at MCP, with an answer of a few lines",
      () =>
        Effect.gen(function* () {
          const { adminToken, raw } = yield* Guest
          const headers = {
            authorization: `Bearer ${adminToken}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
          }
          for (const path of [
            "/api/v1/principals",
            "/api/v1/tools",
            "/api/v1/tools/none/call",
            "/api/v1/hosts/h",
            "/mcp",
          ])
            for (const [body, words] of bodies) {
              const method = path.endsWith("/h") ? "PUT" : "POST"
              const response = yield* Effect.promise(() => raw(path, { method, headers, body }))
              const text = yield* Effect.promise(() => response.text())
              assert.strictEqual(response.status, 400, path)
              assert.match(text, words, path)
              assert.isBelow(text.length, 1000)
            }
        }),
    )

    it.effect("with thousands of faults: the first fifty of a small one, the first of a large one", () =>
      Effect.gen(function* () {
        const { adminToken, raw } = yield* Guest
        const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
        const told = (count: number) =>
          Effect.promise(async () => {
            const body = `{${many(count, (at) => `"k${at}":1`)}}`
            const response = await raw("/api/v1/principals", { method: "POST", headers, body })
            return ((await response.json()) as { readonly issues: ReadonlyArray<unknown> }).issues.length
          })
        assert.strictEqual(yield* told(10), 12)
        assert.strictEqual(yield* told(1000), 51)
        assert.strictEqual(yield* told(15_000), 1)
      }),
    )
  })
})
