/** MCP servers of the house: real programs and real HTTP, on both databases. */
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { Upstreams } from "../src/upstreams/Upstreams.ts"
import { ask, Guest, house } from "./house.ts"
import { callTool, everything } from "./upstreamsKit.ts"

const refusal = (question: () => Promise<unknown>) =>
  Effect.map(Effect.flip(ask(question)), (error) => error as StoaError)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`upstreams on ${store}`, (it) => {
    it.effect("S4-36 X-26 a program is started, and its tools are the house's", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const upstreams = yield* Upstreams
        const added = yield* ask(() => admin.mcpServers.add({ name: "every", ...everything("stdio") }))
        assert.deepStrictEqual([added.status, added.version, added.held, added.missing], ["connected", "2.0.0", [], []])
        assert.include(added.tools, "echo")
        assert.notProperty(added, "error")
        const echo = upstreams.tools().find(({ tool }) => tool.definition.name === "every/echo")!
        assert.deepStrictEqual(
          [echo.server, echo.owner, echo.reviewed, echo.tool.definition.source, echo.tool.definition.riskLevel],
          ["every", null, false, "mcp", "medium"],
        )
        assert.deepStrictEqual(
          [echo.tool.definition.timeoutMs, echo.tool.definition.requiresApproval, echo.tool.definition.visibility],
          [30_000, false, "hidden"],
        )
        const result = (yield* callTool("every/echo", { message: "hi" })) as { content: Array<{ text: string }> }
        assert.strictEqual(result.content[0]?.text, "Echo: hi")
        assert.isTrue(upstreams.allowed("every", "echo"))
        yield* ask(() => admin.mcpServers.remove("every"))
        assert.deepStrictEqual((yield* ask(() => admin.mcpServers.list())).items, [])
        assert.isFalse(upstreams.allowed("every", "echo"))
        assert.deepStrictEqual(upstreams.tools(), [])
        assert.strictEqual((yield* refusal(() => admin.mcpServers.get("every"))).status, 404)
      }),
    )
  })
