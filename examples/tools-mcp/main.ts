/** The tools of an MCP server as tools of ours: connected, listed, called, and gone again. */
import assert from "node:assert/strict"
import { fileURLToPath } from "node:url"
import { ToolService, ToolServiceLive } from "@stoa/tools"
import { Effect } from "effect"

const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))

// #region mcp
const connected = Effect.gen(function* () {
  const tools = yield* ToolService
  const server = yield* tools.connectMCPServer({
    name: "everything",
    transport: "stdio",
    command: process.execPath,
    args: [program, "stdio"],
  })
  const caller = { agentId: "pam", sessionId: "mcp" }
  const sum = yield* tools.execute({ toolName: "everything/get-sum", arguments: { a: 2, b: 3 }, ...caller })
  const wrong = yield* Effect.flip(
    tools.execute({ toolName: "everything/get-sum", arguments: { a: "two" }, ...caller }),
  )
  const listed = yield* tools.listTools({ source: "mcp" })
  yield* tools.disconnectMCPServer("everything")
  return { server, sum, wrong, listed, after: yield* tools.listMCPServers(), left: yield* tools.listTools() }
})
// #endregion

const { after, left, listed, server, sum, wrong } = await Effect.runPromise(Effect.provide(connected, ToolServiceLive))
assert.equal(server.status, "connected")
assert.ok(server.tools.includes("get-sum"))
assert.equal(listed.length, server.tools.length)
assert.match(JSON.stringify(sum.result), /The sum of 2 and 3 is 5/)
// The server's own schema is checked before anything is sent.
assert.equal(wrong._tag, "ToolValidationError")
assert.deepEqual(
  after.map(({ status }) => status),
  ["disconnected"],
)
assert.equal(left.length, 0)
console.log(`an MCP server was connected, its ${listed.length} tools listed, one called, and all of them gone again`)
