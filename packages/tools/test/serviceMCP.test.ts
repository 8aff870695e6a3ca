/** ToolService with real MCP servers and the built-in skills: what the seed's success list promises. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  CurrentToolsConfig,
  DecisionsPort,
  defaultToolsConfig,
  EventsPort,
  makeRecordMemory,
  RecordPort,
  type ToolEvent,
  ToolService,
  ToolServiceBuiltin,
  ToolServiceLive,
} from "../src/index.ts"
import { input } from "./kit.ts"
import { raw } from "./mcp/mcpKit.ts"

const resolve = createRequire(import.meta.url).resolve
const everything = join(dirname(resolve("@modelcontextprotocol/server-everything/package.json")), "dist/index.js")
const server = { name: "every", transport: "stdio" as const, command: process.execPath, args: [everything, "stdio"] }

const impatient = { ...defaultToolsConfig, mcp: { ...defaultToolsConfig.mcp, requestTimeoutMs: 3000 } }

const listening = () => {
  const events: Array<ToolEvent> = []
  const layer = Layer.mergeAll(
    Layer.succeed(EventsPort, { publish: (event) => Effect.sync(() => void events.push(event)) }),
    Layer.succeed(RecordPort, makeRecordMemory()),
  )
  return { events, layer }
}

describe("ToolService and MCP", () => {
  it.live(
    "S4-35, S4-36, S4-37, S4-38, S4-45, S4-62, S4-111 connects a real server, registers its tools with their schemas, and calls them",
    () => {
      const { events, layer } = listening()
      return Effect.gen(function* () {
        const tools = yield* ToolService
        const connected = yield* tools.connectMCPServer(server)
        assert.deepInclude(connected, { name: "every", status: "connected", transport: "stdio" })
        assert.include(connected.tools, "echo")
        assert.deepStrictEqual(yield* tools.listMCPServers(), [connected])
        assert.sameMembers(
          (yield* tools.listTools({ source: "mcp" })).map((one) => one.name),
          connected.tools.map((name) => `every/${name}`),
        )
        const echo = yield* tools.getTool("every/echo")
        assert.deepInclude(echo, { source: "mcp", riskLevel: "medium", timeoutMs: 30_000, requiresApproval: false })
        assert.property(echo.inputSchema, "properties")
        const output = yield* tools.execute(input({ toolName: "every/echo", arguments: { message: "hello" } }))
        assert.include(JSON.stringify(output.result), "hello")
        const byWire = yield* tools.execute(input({ toolName: "every__echo", arguments: { message: "again" } }))
        assert.strictEqual(byWire.toolName, "every/echo")
        const wrong = yield* Effect.flip(tools.execute(input({ toolName: "every/echo", arguments: { message: 5 } })))
        assert.deepInclude(wrong, { _tag: "ToolValidationError", parameter: "message", expected: "string" })
        assert.deepStrictEqual(
          events.filter((event) => event.type === "tools.mcp-connected").map((event) => event.payload),
          [{ serverName: "every", tools: connected.tools }],
        )
        const exported = (yield* tools.toFunctionCallingFormat()).find((tool) => tool.name === "every__echo")!
        assert.strictEqual(exported.input_schema, echo.inputSchema)
      }).pipe(Effect.provide(Layer.provideMerge(ToolServiceLive, layer)))
    },
    30_000,
  )

  it.live(
    "S4-39, S4-40, S4-41, S4-111 after disconnecting its tools are gone, the event comes once, and it stays listed",
    () => {
      const { events, layer } = listening()
      return Effect.gen(function* () {
        const tools = yield* ToolService
        yield* tools.connectMCPServer(server)
        yield* tools.disconnectMCPServer("every")
        assert.deepStrictEqual(yield* tools.listTools(), [])
        assert.strictEqual(
          (yield* Effect.flip(tools.execute(input({ toolName: "every/echo", arguments: { message: "x" } }))))._tag,
          "ToolNotFoundError",
        )
        assert.deepStrictEqual(
          (yield* tools.listMCPServers()).map((one) => one.status),
          ["disconnected"],
        )
        assert.deepInclude(yield* Effect.flip(tools.disconnectMCPServer("nobody")), {
          _tag: "MCPConnectionError",
          serverName: "nobody",
        })
        assert.deepStrictEqual(
          events.filter((event) => event.type === "tools.mcp-disconnected").map((event) => event.payload),
          [{ serverName: "every" }],
        )
        // It may come back under its name.
        yield* tools.connectMCPServer(server)
        assert.isAbove((yield* tools.listTools()).length, 5)
      }).pipe(Effect.provide(Layer.provideMerge(ToolServiceLive, layer)))
    },
    30_000,
  )

  it.live("S4-21 whatever goes wrong at a server is the tool's ToolExecutionError or its timeout", () =>
    Effect.gen(function* () {
      const tools = yield* ToolService
      yield* tools.connectMCPServer(raw("srv").config)
      const call = (tool: string) => Effect.flip(tools.execute(input({ toolName: `srv/${tool}`, arguments: { a: 1 } })))
      const table = [
        ["fails", "the disk is full"],
        ["rpc-error", "no such planet"],
        ["die", 'MCP server "srv"'],
      ] as const
      for (const [tool, words] of table) {
        const error = yield* call(tool)
        assert.deepInclude(error, { _tag: "ToolExecutionError", toolName: `srv/${tool}`, input: { a: 1 } })
        assert.include(error.message, words)
      }
      yield* tools.connectMCPServer(raw("quiet").config)
      const late = yield* Effect.flip(tools.execute(input({ toolName: "quiet/hang", arguments: {} })))
      assert.deepInclude(late, { _tag: "ToolTimeoutError", toolName: "quiet/hang", timeoutMs: 3000 })
    }).pipe(Effect.provide(Layer.provide(ToolServiceLive, Layer.succeed(CurrentToolsConfig, impatient)))),
  )

  it.live(
    "S4-19, S4-21 a server that cannot start is an MCPConnectionError, and nothing is registered",
    () =>
      Effect.gen(function* () {
        const tools = yield* ToolService
        const error = yield* Effect.flip(
          tools.connectMCPServer({ name: "ghost", transport: "stdio", command: "/no/such/program" }),
        )
        assert.deepInclude(error, { _tag: "MCPConnectionError", serverName: "ghost", transport: "stdio" })
        assert.match(error.message, /^Failed to connect to MCP server "ghost": .*\/no\/such\/program/)
        // What was tried, and why it did not go.
        assert.instanceOf(error.cause, Error)
        const away = yield* Effect.flip(
          tools.connectMCPServer({ name: "away", transport: "streamable-http", endpoint: "http://127.0.0.1:1/mcp" }),
        )
        assert.deepInclude(away, { _tag: "MCPConnectionError", serverName: "away", transport: "streamable-http" })
        assert.instanceOf(away.cause, Error)
        assert.deepStrictEqual(yield* tools.listTools(), [])
        assert.deepStrictEqual(yield* tools.listMCPServers(), [])
      }).pipe(Effect.provide(ToolServiceLive)),
    30_000,
  )
})

describe("ToolService and its built-ins", () => {
  it.live(
    "S4-82, S4-83 the plain layer has no tools; the other has the five, in order; the configuration may name fewer",
    () =>
      Effect.gen(function* () {
        const names = (layer: Layer.Layer<ToolService>) =>
          Effect.flatMap(ToolService, (tools) =>
            Effect.map(tools.listTools(), (all) => all.map((one) => one.name)),
          ).pipe(Effect.provide(layer))
        assert.deepStrictEqual(yield* names(ToolServiceLive), [])
        assert.deepStrictEqual(yield* names(ToolServiceBuiltin), [
          "web-search",
          "file-read",
          "file-write",
          "http-get",
          "code-execute",
        ])
        const fewer = Layer.succeed(CurrentToolsConfig, { ...defaultToolsConfig, builtinTools: ["http-get"] })
        assert.deepStrictEqual(yield* names(Layer.provide(ToolServiceBuiltin, fewer)), ["http-get"])
      }),
  )

  it.live(
    "S4-94, S4-95, X-54 of the built-ins only file-write and code-execute wait for approval; approved code runs",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const decisions = Layer.succeed(DecisionsPort, {
          ask: ({ tool }) =>
            Effect.sync(
              () => (
                asked.push(tool),
                tool === "code-execute"
                  ? ({ state: "approved" } as const)
                  : ({ state: "denied", reason: "no" } as const)
              ),
            ),
        })
        yield* Effect.gen(function* () {
          const tools = yield* ToolService
          const call = (toolName: string, args: Record<string, unknown>) =>
            tools.execute(input({ toolName, arguments: args }))
          assert.strictEqual((yield* call("file-read", { path: "package.json" })).success, true)
          assert.strictEqual(
            (yield* Effect.flip(call("file-write", { path: "x.txt", content: "x" })))._tag,
            "ToolAuthorizationError",
          )
          const run = yield* call("code-execute", { code: "[1, 2, 3].reduce((a, b) => a + b)" })
          assert.include(JSON.stringify(run.result), "6")
          assert.strictEqual(
            (yield* Effect.flip(call("http-get", { url: "http://127.0.0.1:1/" })))._tag,
            "ToolExecutionError",
          )
          assert.strictEqual((yield* Effect.flip(call("web-search", { query: "x" })))._tag, "ToolExecutionError")
        }).pipe(Effect.provide(Layer.provide(ToolServiceBuiltin, decisions)))
        assert.deepStrictEqual(asked, ["file-write", "code-execute"])
      }),
    30_000,
  )
})
