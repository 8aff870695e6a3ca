/** The MCP door over real HTTP: both eras begin, list and call, as the bearer of a token and in no other way. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OtherFaces } from "../src/doors/mcp/houseDesk.ts"
import { conformanceFace } from "./conformance/face.ts"
import { ask, Guest, house, roomy } from "./house.ts"
import { initialized, newRequest, oldRequest } from "./mcpKit.ts"

const fixtures = conformanceFace()
const faces = Layer.succeed(OtherFaces, (_, endpoint) =>
  endpoint.kind === "toolset" && endpoint.name === "conformance" ? fixtures() : undefined,
)
const config = {
  ...roomy,
  tools: [
    {
      name: "motto",
      description: "Says the motto of the house",
      inputSchema: { type: "object", properties: { loud: { type: "boolean" } }, additionalProperties: false },
      executionType: "internal",
      execution: { output: { motto: "festina lente" } },
    },
  ],
}
const Test = house({ store: "sqlite", config }).pipe(Layer.provide(faces))

layer(Test, { timeout: 60_000 })("mcp", (it) => {
  it.effect("S2-77 X-39 initialize echoes every old revision, and never promises the one without a handshake", () =>
    Effect.gen(function* () {
      const { adminToken, url } = yield* Guest
      for (const asked of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"]) {
        const { body, status } = yield* ask(() =>
          oldRequest(`${url}/mcp`, adminToken, "initialize", {
            protocolVersion: asked,
            capabilities: {},
            clientInfo: { name: "t", version: "1" },
          }),
        )
        assert.strictEqual(status, 200)
        assert.strictEqual(body.result.protocolVersion, asked < "2026" && asked > "2000" ? asked : "2025-11-25")
      }
    }),
  )

  it.effect("a configured tool is listed and called in both eras, as text and as structure", () =>
    Effect.gen(function* () {
      const { adminToken, url } = yield* Guest
      const session = yield* ask(() => initialized(`${url}/mcp`, adminToken))
      const old = yield* ask(() => oldRequest(`${url}/mcp`, adminToken, "tools/list", {}, session))
      const now = yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/list"))
      for (const { body } of [old, now])
        assert.deepStrictEqual(
          body.result.tools.map((one: { readonly name: string }) => one.name),
          ["motto"],
        )
      assert.strictEqual(now.body.result.resultType, "complete")
      const params = { name: "motto", arguments: {} }
      for (const { body } of [
        yield* ask(() => oldRequest(`${url}/mcp`, adminToken, "tools/call", params, session)),
        yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/call", params)),
      ]) {
        assert.deepStrictEqual(body.result.structuredContent, { motto: "festina lente" })
        assert.deepStrictEqual(body.result.content, [{ type: "text", text: '{"motto":"festina lente"}' }])
        assert.isUndefined(body.result.isError)
      }
    }),
  )
})
