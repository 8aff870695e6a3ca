/** The names of seed 004's code, as its examples use them, and what results cost. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  type CostRecord,
  CostsPort,
  CurrentSearchProvider,
  EventsPort,
  fileReadHandler,
  fileReadTool,
  makeMCPClient,
  makeRecordMemory,
  makeSandbox,
  makeToolRegistry,
  RecordPort,
  type ToolEvent,
  ToolExecutionError,
  ToolsConfig,
  ToolService,
  ToolServiceLive,
  webSearchHandler,
  webSearchTool,
} from "../src/index.ts"
import { definition, input } from "./kit.ts"

const resolve = createRequire(import.meta.url).resolve
const everything = join(dirname(resolve("@modelcontextprotocol/server-everything/package.json")), "dist/index.js")
const call = {
  id: "c",
  principal: "agent-1",
  space: null,
  correlationId: "x",
  idempotencyKey: "k",
  progress: () => Effect.void,
}

describe("the seed's own names", () => {
  it.effect("S4-05 S4-33 S4-42 S4-43 S4-44 makeToolRegistry registers, finds, lists and exports", () =>
    Effect.gen(function* () {
      const registry = yield* makeToolRegistry
      yield* registry.register(definition(), () => Effect.succeed(5))
      // The second of a name is left out: registering does not fail.
      yield* registry.register(definition(), () => Effect.succeed(6))
      const tool = yield* registry.get("add")
      assert.strictEqual(yield* tool.handler({}, call), 5)
      assert.deepInclude(yield* Effect.flip(registry.get("sub")), {
        _tag: "ToolNotFoundError",
        availableTools: ["add"],
      })
      assert.lengthOf(yield* registry.list({ riskLevel: "low" }), 1)
      assert.lengthOf(yield* registry.list({ source: "mcp" }), 0)
      const [format] = yield* registry.toFunctionCallingFormat()
      assert.deepInclude(format!, { name: "add" })
    }),
  )

  it.live("S4-05 S4-62 S4-68 S4-39 S4-45 makeMCPClient connects, calls, lists and disconnects, and tells", () => {
    const events: Array<ToolEvent> = []
    const publish = (event: ToolEvent) => Effect.sync(() => void events.push(event))
    return Effect.gen(function* () {
      const client = yield* makeMCPClient
      assert.strictEqual((yield* Effect.flip(client.callTool("every", "echo", {})))._tag, "MCPConnectionError")
      const args = [everything, "stdio"]
      const server = yield* client.connect({ name: "every", transport: "stdio", command: process.execPath, args })
      assert.deepInclude(server, { name: "every", status: "connected" })
      assert.include(JSON.stringify(yield* client.callTool("every", "echo", { message: "hello" })), "hello")
      yield* client.disconnect("every")
      assert.deepStrictEqual(
        (yield* client.listServers()).map(({ status }) => status),
        ["disconnected"],
      )
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["tools.mcp-connected", "tools.mcp-disconnected"],
      )
    }).pipe(Effect.provideService(EventsPort, { publish }), Effect.scoped)
  })

  it.live("S4-05 S4-17 S4-56 S4-57 makeSandbox ends what takes too long, and what throws, with the tool's name", () =>
    Effect.gen(function* () {
      const { execute } = makeSandbox()
      assert.strictEqual(yield* execute(() => Effect.succeed(1), { timeoutMs: 100 }), 1)
      const late = yield* Effect.flip(execute(() => Effect.never, { timeoutMs: 20, toolName: "slow" }))
      assert.deepInclude(late, { _tag: "ToolTimeoutError", toolName: "slow", timeoutMs: 20 })
      const thrown = yield* Effect.flip(execute(() => Effect.die("no"), { timeoutMs: 100 }))
      assert.deepInclude(thrown, { _tag: "ToolExecutionError", toolName: "unknown" })
      const failed = new ToolExecutionError({ message: "no", toolName: "mine" })
      assert.strictEqual(yield* Effect.flip(execute(() => Effect.fail(failed), { timeoutMs: 100 })), failed)
    }),
  )

  it.effect("S4-05 S4-84 S4-87 ToolsConfig, the skills' definitions and handlers have their names", () =>
    Effect.gen(function* () {
      assert.deepInclude(ToolsConfig.execution, { defaultTimeoutMs: 30_000, maxTimeoutMs: 300_000 })
      assert.deepInclude(ToolsConfig.mcp, { protocolVersion: "2024-11-05", maxRetries: 3 })
      assert.deepInclude(webSearchTool, { name: "web-search", timeoutMs: 10_000 })
      assert.deepInclude(fileReadTool, { name: "file-read", timeoutMs: 5_000 })
      assert.include(String(yield* fileReadHandler({ path: "package.json" }, call)), '"name"')
      const search = (query: string, maxResults: number) =>
        Effect.succeed([{ title: query, url: "x", snippet: String(maxResults) }] as never)
      const found = yield* Effect.provideService(webSearchHandler({ query: "q" }, call), CurrentSearchProvider, {
        name: "played",
        search,
      })
      assert.deepInclude(JSON.parse(JSON.stringify(found)), {
        provider: "played",
        results: [{ title: "q", url: "x", snippet: "5" }],
      })
    }),
  )
})

describe("what results cost", () => {
  it.effect("S4-112 each result's cost is recorded once, with whose it is; what has no result costs nothing", () => {
    const costs: Array<CostRecord> = []
    const record = (entry: CostRecord) => Effect.sync(() => void costs.push(entry))
    const layer = Layer.mergeAll(Layer.succeed(CostsPort, { record }), Layer.succeed(RecordPort, makeRecordMemory()))
    const fails = (name: string) => () => Effect.fail(new ToolExecutionError({ message: "no", toolName: name }))
    return Effect.gen(function* () {
      const tools = yield* ToolService
      const priced = (
        name: string,
        cost: (result: unknown) => number,
        handler = () => Effect.succeed({ cents: 3 }) as never,
      ) => tools.register(definition({ name, parameters: [] }), handler, { cost })
      yield* priced("api", (result) => (result as { cents: number }).cents / 100)
      yield* priced("free", () => 0)
      yield* priced("odd", () => Number.NaN)
      yield* priced("thrown", () => {
        throw new Error("who knows")
      })
      yield* priced("failing", () => 1, fails("failing") as never)
      yield* tools.register(definition({ name: "plain", parameters: [] }), () => Effect.succeed(1))
      for (const toolName of ["api", "free", "odd", "thrown", "plain"]) {
        const output = yield* tools.execute(input({ toolName, arguments: {}, correlationId: "together" }))
        assert.isTrue(output.success, toolName)
      }
      yield* Effect.flip(tools.execute(input({ toolName: "failing", arguments: {} })))
      // A repeated call costs nothing again.
      for (let i = 0; i < 2; i++)
        yield* tools.execute(input({ toolName: "api", arguments: {}, idempotencyKey: "once" }))
      assert.deepStrictEqual(
        costs.map(({ agentId, cost, sessionId, toolName }) => [toolName, agentId, sessionId, cost]),
        [
          ["api", "agent-1", "session-1", 0.03],
          ["api", "agent-1", "session-1", 0.03],
        ],
      )
      assert.strictEqual(costs[0]!.correlationId, "together")
    }).pipe(Effect.provide(Layer.provideMerge(ToolServiceLive, layer)))
  })

  it.effect("S4-112 costs that cannot be written do not fail the call", () =>
    Effect.gen(function* () {
      const tools = yield* ToolService
      yield* tools.register(definition({ name: "api", parameters: [] }), () => Effect.succeed(1), { cost: () => 1 })
      assert.isTrue((yield* tools.execute(input({ toolName: "api", arguments: {} }))).success)
    }).pipe(
      Effect.provide(ToolServiceLive),
      Effect.provideService(CostsPort, { record: () => Effect.fail("the disk is full") }),
    ),
  )
})
