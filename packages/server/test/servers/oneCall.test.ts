/** A tool of an MCP server, called by the library alone, by its ToolService, and through a house: one answer. */
import { assert, layer } from "@effect/vitest"
import { MCPClient, ToolService, ToolServiceLive } from "@stoa/tools"
import { Effect } from "effect"
import { input } from "../../../tools/test/kit.ts"
import { joined } from "../proxied/proxiedKit.ts"
import { refused, served } from "../proxied/proxiedServer.ts"
import { ask, house, roomy } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"

const promised = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
const words = [{ type: "text", text: "words" }]

/** What a server may answer to a call; whether its tool promises structure; and what that is, in words. */
const answers = {
  "as promised": { schema: true, result: { content: words, structuredContent: { n: 1 } }, says: undefined },
  "structure nobody promised": {
    schema: false,
    result: { content: words, structuredContent: { m: 1 } },
    says: undefined,
  },
  "no structure, as none was promised": { schema: false, result: { content: words }, says: undefined },
  "no structure, though it was promised": {
    schema: true,
    result: { content: words },
    says: 'MCP tool "act" gave no structured content, which its output schema promises',
  },
  "structure that is not what was promised": {
    schema: true,
    result: { content: words, structuredContent: { n: "one" } },
    says: 'MCP tool "act" ran, but its result is not what its output schema says: "n" must be a number',
  },
  "a failure in the tool's words": {
    schema: true,
    result: { content: words, isError: true },
    says: 'MCP tool "act" failed: words',
  },
  "a failure without words": {
    schema: false,
    result: { content: [], isError: true },
    says: 'MCP tool "act" failed: it gave no reason',
  },
  "a refusal of the protocol's": {
    schema: true,
    result: refused(-32_050, "not today", { until: "noon" }),
    says: 'MCP tool "act" failed: not today',
  },
}

const config = { ...roomy, agents: [{ name: "ada" }] }

layer(house({ store: "sqlite", config }), { excludeTestServices: true, timeout: 60_000 })("one call", (it) => {
  for (const era of ["old", "new"] as const)
    for (const [what, { result, says, schema }] of Object.entries(answers))
      it.effect(`S4-37 S4-70 G-30 ${what}, ${era} era: the library and the house say the same`, () =>
        Effect.gen(function* () {
          const tool = {
            name: "act",
            description: "acts",
            inputSchema: { type: "object" },
            ...(schema ? { outputSchema: promised } : {}),
          }
          const list = { tools: [tool], ...(era === "new" ? { ttlMs: 0, cacheScope: "private" } : {}) }
          const server = yield* served(era, { act: () => result }, { "tools/list": () => list })
          const place = { transport: "streamable-http", endpoint: server.url } as const

          const alone = yield* Effect.gen(function* () {
            const connection = yield* (yield* MCPClient).connect({ name: "it", ...place })
            return yield* Effect.result(connection.callTool("act", {}))
          }).pipe(Effect.provide(MCPClient.layer))

          const service = yield* Effect.gen(function* () {
            const tools = yield* ToolService
            yield* tools.connectMCPServer({ name: "it", ...place })
            return yield* Effect.result(tools.execute(input({ toolName: "it/act", arguments: {} })))
          }).pipe(Effect.provide(ToolServiceLive))

          const { admin, name, token, url } = yield* joined(server.url)
          yield* ask(() => newRequest(`${url}/mcp/servers/${name}`, token, "tools/call", { name: "act" }))
          const [call] = (yield* ask(() => admin.calls.list({ tool: `${name}/act` }))).items
          assert.lengthOf(server.sent("tools/call"), 3)

          if (says === undefined) {
            assert.strictEqual(call?.state, "done")
            const whole = (given: unknown) => ({ ...(given as object), _meta: undefined, resultType: undefined })
            const same = { ...result, _meta: undefined, resultType: undefined }
            assert.deepStrictEqual(alone._tag === "Success" && whole(alone.success), same)
            assert.deepStrictEqual(service._tag === "Success" && whole(service.success.result), same)
            assert.deepStrictEqual(whole(call?.output), same)
            return
          }
          assert.strictEqual(call?.state, "failed")
          const told = [
            alone._tag === "Failure" ? alone.failure : undefined,
            service._tag === "Failure" ? service.failure : undefined,
            call?.error === undefined ? undefined : { _tag: call.error.tag, message: call.error.message },
          ]
          for (const one of told) {
            assert.strictEqual(one?._tag, "ToolExecutionError")
            assert.include(one?.message, says)
          }
        }).pipe(Effect.scoped),
      )
})
