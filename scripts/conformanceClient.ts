// The client under test of `npm run conformance -- --client`: Stoa's MCP client, told by the suite which scenario is on.
// It does what a host would do there (call the tool, answer the question, sign in); nothing in it speaks MCP itself.
import { Effect, Layer } from "effect"
import { MCPClient } from "../packages/tools/src/mcp/MCPClient.ts"
import type { MCPConnection } from "../packages/tools/src/mcp/MCPConnection.ts"
import { defaultMCPPorts, MCPPorts } from "../packages/tools/src/mcp/MCPPorts.ts"
import { authorizationFor, type ScenarioContext } from "./conformanceSignIn.ts"

const endpoint = process.argv.at(-1) ?? ""
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as ScenarioContext

type Play = (connection: MCPConnection) => Effect.Effect<unknown, unknown>

/** Whatever the server offers is used once; a refusal is an answer, not the end. */
const useAll: Play = (connection) =>
  Effect.gen(function* () {
    for (const { name } of yield* connection.tools) yield* Effect.exit(connection.callTool(name, {}))
    const resources = yield* Effect.orElseSucceed(connection.resources, () => [])
    for (const { uri } of resources) yield* Effect.exit(connection.readResource(uri))
    const prompts = yield* Effect.orElseSucceed(connection.prompts, () => [])
    for (const { name } of prompts) yield* Effect.exit(connection.getPrompt(name))
  })

const echoSchema: Play = (connection) =>
  Effect.gen(function* () {
    const tools = yield* connection.tools
    const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema
    return yield* connection.callTool("json_schema_echo", { schema })
  })

const plays: Record<string, Play> = {
  initialize: () => Effect.void,
  "json-schema-ref-no-deref": () => Effect.void,
  "request-metadata": useAll,
  tools_call: (it) => it.callTool("add_numbers", { a: 5, b: 3 }),
  "elicitation-sep1034-client-defaults": (it) => it.callTool("test_client_elicitation_defaults", {}),
  "sse-retry": (it) => it.callTool("test_reconnection", {}),
  "json-schema-2020-12-preservation": echoSchema,
  "http-custom-headers": (it) =>
    Effect.forEach(context.toolCalls ?? [], (call) => Effect.exit(it.callTool(call.name, call.arguments))),
  "sep-2322-client-request-state": (it) =>
    Effect.all(
      [
        Effect.exit(it.callTool("test_mrtr_echo_state", {})),
        Effect.exit(it.callTool("test_mrtr_unrelated", {})),
        Effect.exit(it.callTool("test_mrtr_no_state", {})),
        Effect.exit(it.callTool("test_mrtr_no_result_type", {})),
      ],
      { concurrency: 2 },
    ),
}

const ports: MCPPorts = {
  ...defaultMCPPorts(),
  // An empty answer: what the form offers as defaults is filled in.
  elicit: () => Effect.succeed({ action: "accept", content: {} }),
  sample: () =>
    Effect.succeed({ role: "assistant", content: { type: "text", text: "yes" }, model: "none", stopReason: "endTurn" }),
  roots: () => Effect.succeed([{ uri: "file:///tmp", name: "tmp" }]),
  authorize: await authorizationFor(scenario, context),
}

const program = Effect.gen(function* () {
  const mcp = yield* MCPClient
  const connection = yield* mcp.connect({ name: "conformance", transport: "streamable-http", endpoint })
  yield* (plays[scenario] ?? useAll)(connection)
})

try {
  const layer = MCPClient.layer.pipe(Layer.provide(Layer.succeed(MCPPorts, ports)))
  await Effect.runPromise(Effect.provide(program, layer))
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
