/** The fuzz run of the MCP door: rounds of twenty thousand mutants against one house. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MCPDoor } from "../../src/doors/mcp/MCPDoor.ts"
import { withFixtures } from "../conformance/toolset.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { barrage } from "./mcpFuzz.ts"
import { oldRequest } from "./mcpKit.ts"

const Test = house({ store: "sqlite", config: roomy }).pipe(Layer.provide(withFixtures))
const each = 20_000

export const fuzzed = ({ milliseconds, rounds }: { readonly rounds: number; readonly milliseconds: number }) =>
  layer(Test, { timeout: 60_000, excludeTestServices: true })("mcp fuzz", (it) => {
    it.effect(
      `${rounds * each} mutated messages: no crash, no hang, no leak, and always a proper answer`,
      () =>
        Effect.gen(function* () {
          const { adminToken, url } = yield* Guest
          const door = yield* MCPDoor
          const at = `${url}/mcp/conformance`
          const sizes: Array<number> = []
          for (let round = 0; round < rounds; round++) {
            const seen = yield* ask(() => barrage(at, adminToken, round * each, each))
            // The mutants reach the tools as well as the gates.
            assert.isAbove(seen.get(200) ?? 0, 1000)
            assert.isAbove(seen.get(400) ?? 0, 1000)
            sizes.push(process.memoryUsage().heapUsed)
          }
          assert.strictEqual(door.waiting(), 0)
          assert.strictEqual(door.streams(), 0)
          assert.isAtMost(door.sessions(), 1000)
          assert.isUndefined(({} as Record<string, unknown>)["polluted"])
          // What is collected when is not ours to say; what grows with every round is more than this.
          if (rounds > 10) assert.isBelow(Math.min(...sizes.slice(-5)), Math.max(...sizes.slice(2, 7)) + 50_000_000)
          const { body } = yield* ask(() => oldRequest(at, adminToken, "tools/call", { name: "test_simple_text" }))
          assert.strictEqual(body.result.content[0].text, "This is a simple text response for testing.")
        }),
      milliseconds,
    )
  })
