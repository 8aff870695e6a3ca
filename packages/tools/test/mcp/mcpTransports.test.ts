// Real servers over every transport: the reference servers of the protocol's own project, a WebSocket, hostile HTTP.
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Queue } from "effect"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import type { MCPConnection } from "../../src/mcp/client/MCPConnection.ts"
import type { MCPUnreachable } from "../../src/mcp/client/MCPUnreachable.ts"
import { freePort, httpServer, webSocketServer } from "../fixtures/loopback.ts"
import { temporary } from "../../../../test/temporary.ts"
import { client, everything } from "./mcpKit.ts"

const textOf = (result: { readonly content: ReadonlyArray<unknown> }) =>
  (result.content[0] as { readonly text: string }).text

/** server-everything over HTTP: ready when it says so. */
const serve = (mode: "sse" | "streamableHttp", port: number) =>
  Effect.acquireRelease(
    Effect.callback<() => Effect.Effect<void>>((resume) => {
      const { args, command } = everything(mode)
      const child = spawn(command, args, {
        env: { ...process.env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"],
      })
      child.stderr.on("data", (text: Buffer) => {
        if (!/(running|listening) on port/.test(text.toString("utf8"))) return
        resume(
          Effect.succeed(() =>
            Effect.callback<void>((ended) => {
              if (child.exitCode !== null || child.signalCode !== null) return ended(Effect.void)
              child.once("exit", () => ended(Effect.void))
              child.kill("SIGKILL")
              return undefined
            }),
          ),
        )
      })
    }),
    (stop) => stop(),
  )

/** What every transport must do. */
const behaves = Effect.fnUntraced(function* (connection: MCPConnection) {
  const server = yield* connection.server
  assert.strictEqual(server.status, "connected")
  assert.strictEqual(server.version, "2.0.0")
  assert.isAbove(server.tools.length, 10)
  assert.strictEqual(textOf(yield* connection.callTool("echo", { message: "hi" })), "Echo: hi")
  const sums = yield* Effect.forEach([1, 2, 3, 4, 5], (n) => connection.callTool("get-sum", { a: n, b: n }), {
    concurrency: "unbounded",
  })
  assert.deepStrictEqual(
    sums.map((sum) => /\d+\.?$/.exec(textOf(sum))?.[0]),
    ["2.", "4.", "6.", "8.", "10."],
  )
  const structured = yield* connection.callTool("get-structured-content", { location: "New York" })
  assert.isObject(structured.structuredContent)
  const refused = yield* Effect.flip(connection.callTool("get-sum", { a: "x" }))
  assert.strictEqual(refused._tag, "ToolExecutionError")
  const seen: Array<number> = []
  yield* connection.callTool(
    "trigger-long-running-operation",
    { duration: 0.2, steps: 2 },
    { onProgress: ({ progress }) => Effect.sync(() => void seen.push(progress)) },
  )
  assert.isAtLeast(seen.length, 1)
  const [resource] = yield* connection.resources
  assert.isNotEmpty((yield* connection.readResource(resource!.uri)).contents)
  assert.isNotEmpty(yield* connection.resourceTemplates)
  const prompts = yield* connection.prompts
  assert.isNotEmpty((yield* connection.getPrompt(prompts[0]!.name)).messages)
  yield* connection.setLogLevel("debug")
})

describe("S4-72 S4-116 X-41 MCP transports", () => {
  it.live("S4-35 stdio: server-everything", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      yield* behaves(yield* (yield* MCPClient).connect({ name: "ev", transport: "stdio", ...everything("stdio") }))
    }).pipe(Effect.provide(layer))
  })

  it.live("Streamable HTTP: server-everything, also after it was started anew", () => {
    const { ears, layer } = client()
    return Effect.gen(function* () {
      const port = yield* freePort
      const stop = yield* serve("streamableHttp", port)
      const endpoint = `http://127.0.0.1:${port}/mcp`
      const connection = yield* (yield* MCPClient).connect({ name: "ev", transport: "streamable-http", endpoint })
      yield* behaves(connection)
      yield* stop()
      yield* serve("streamableHttp", port)
      // The new server knows nothing of our session and says so: the call was not heard, and is sent again.
      assert.strictEqual(textOf(yield* connection.callTool("echo", { message: "again" })), "Echo: again")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "connected")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("SSE of the first days: server-everything, whose end is noticed", () => {
    const { ears, layer } = client({ settings: { breaker: { failures: 1, coolDownMs: 60_000 } } })
    return Effect.gen(function* () {
      const port = yield* freePort
      const stop = yield* serve("sse", port)
      const endpoint = `http://127.0.0.1:${port}/sse`
      const connection = yield* (yield* MCPClient).connect({ name: "ev", transport: "sse", endpoint })
      yield* behaves(connection)
      yield* stop()
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
      assert.strictEqual((yield* Effect.flip(connection.callTool("echo", {})))._tag, "MCPConnectionError")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("WebSocket: with headers, in both eras, found again when dropped", () => {
    const { ears, layer } = client()
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const old = yield* webSocketServer("")
      const headers = { authorization: "Bearer x" }
      const connection = yield* mcp.connect({ name: "ws", transport: "websocket", endpoint: old.url, headers })
      assert.deepStrictEqual(old.headers, ["Bearer x"])
      assert.strictEqual(textOf(yield* connection.callTool("echo", { a: 1 })), '{"a":1}')
      old.drop()
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "connected")
      assert.strictEqual(textOf(yield* connection.callTool("echo", { a: 2 })), '{"a":2}')
      const modern = yield* webSocketServer("modern")
      const newer = yield* mcp.connect({ name: "ws2", transport: "websocket", endpoint: modern.url })
      assert.strictEqual((yield* newer.details).era, "modern")
      yield* mcp.disconnect("ws2")
      const silent = yield* webSocketServer("dies-of-probe")
      const third = yield* mcp.connect({ name: "ws3", transport: "websocket", endpoint: silent.url })
      assert.strictEqual((yield* third.details).era, "legacy")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("server-filesystem and server-memory keep what they are given", () => {
    const { layer } = client()
    const folder = join(temporary(), "files")
    mkdirSync(folder)
    writeFileSync(join(folder, "note.txt"), "a note")
    const filesystem = import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js")
    const graph = import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js")
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const command = process.execPath
      const files = yield* mcp.connect({
        name: "files",
        transport: "stdio",
        command,
        args: [fileURLToPath(filesystem), folder],
      })
      const note = yield* files.callTool("read_text_file", { path: join(folder, "note.txt") })
      assert.strictEqual(textOf(note), "a note")
      assert.strictEqual(
        (yield* Effect.flip(files.callTool("read_text_file", { path: "/etc/passwd" })))._tag,
        "ToolExecutionError",
      )
      const memory = yield* mcp.connect({
        name: "memory",
        transport: "stdio",
        command,
        args: [fileURLToPath(graph)],
        env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
      })
      yield* memory.callTool("create_entities", {
        entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }],
      })
      assert.include(textOf(yield* memory.callTool("read_graph", {})), "Ada")
      assert.lengthOf(yield* mcp.list, 2)
    }).pipe(Effect.provide(layer))
  })
})

describe("MCP over hostile HTTP", () => {
  const initialize = () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "h", version: "1" },
  })
  const list = () => ({ tools: [{ name: "act", inputSchema: { type: "object" } }] })

  it.live("S4-75 a call whose answer is lost is not sent again, although the server is found again", () => {
    const { ears, layer } = client()
    let calls = 0
    return Effect.gen(function* () {
      const { url } = yield* httpServer({
        initialize,
        "tools/list": list,
        "tools/call": (_, response) => {
          calls += 1
          response.destroy()
        },
      })
      const connection = yield* (yield* MCPClient).connect({ name: "h", transport: "streamable-http", endpoint: url })
      const error = yield* Effect.flip(connection.callTool("act", {}))
      assert.strictEqual(error._tag, "MCPConnectionError")
      assert.include(error.message, "not repeated")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "error")
      assert.strictEqual((yield* Queue.take(ears.statuses)).status, "connected")
      assert.strictEqual(calls, 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("S4-75 reading is tried again, at most three times", () => {
    const { layer } = client()
    let [heard, reads] = [0, 0]
    return Effect.gen(function* () {
      const { url } = yield* httpServer({
        initialize: () => ({ ...initialize(), capabilities: { tools: {}, resources: {} } }),
        "tools/list": list,
        "resources/list": (_, response) => {
          heard += 1
          reads += 1
          return reads < 3 ? void response.destroy() : { resources: [] }
        },
      })
      const connection = yield* (yield* MCPClient).connect({ name: "h", transport: "streamable-http", endpoint: url })
      assert.deepStrictEqual(yield* connection.resources, [])
      assert.strictEqual(reads, 3)
      // Where it is never answered, the third is the last.
      reads = Number.NEGATIVE_INFINITY
      const asked = heard
      const error = yield* Effect.flip(connection.resources)
      assert.deepStrictEqual([error._tag, heard - asked], ["MCPConnectionError", 3])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("an endless answer is cut off", () => {
    const { layer } = client()
    return Effect.gen(function* () {
      const { url } = yield* httpServer({
        initialize,
        "tools/list": list,
        "tools/call": (_, response) => {
          response.setHeader("content-type", "application/json")
          const more = () => {
            while (response.write("x".repeat(65_536)));
          }
          response.on("drain", more)
          more()
        },
      })
      const connection = yield* (yield* MCPClient).connect({ name: "h", transport: "streamable-http", endpoint: url })
      const [time] = yield* Effect.timed(Effect.flip(connection.callTool("act", {})))
      assert.isBelow(Duration.toMillis(time), 5000)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live("what refuses us is not asked again; what is not there says so", () => {
    const { layer } = client()
    let asked = 0
    return Effect.gen(function* () {
      const mcp = yield* MCPClient
      const { url } = yield* httpServer({
        "server/discover": (_, response) => {
          asked += 1
          response.writeHead(401).end()
        },
      })
      const refused = yield* Effect.flip(mcp.connect({ name: "h", transport: "streamable-http", endpoint: url }))
      assert.include(refused.message, "401")
      assert.strictEqual(asked, 1)
      const endpoint = `http://127.0.0.1:${yield* freePort}/mcp`
      const nobody = yield* Effect.flip(mcp.connect({ name: "n", transport: "streamable-http", endpoint }))
      assert.include(nobody.message, `nothing answers at ${endpoint}`)
      assert.include((nobody.cause as MCPUnreachable).detail, "ECONNREFUSED")
      const socket = endpoint.replace("http", "ws")
      const deaf = yield* Effect.flip(mcp.connect({ name: "w", transport: "websocket", endpoint: socket }))
      assert.strictEqual(deaf._tag, "MCPConnectionError")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})
