/**
 * `node serversFixture.ts <file>`: an MCP server over stdio whose tools stand in a JSON file, `{name: description}`.
 * Calling `reload` makes it say that they have changed, `tell` makes it log its TOKEN; anything else answers with its name.
 */
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"

const say = (message: unknown) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`)
const tools = () =>
  Object.entries(JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Record<string, string>).map(
    ([name, description]) => ({ name, description, inputSchema: { type: "object" } }),
  )

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const {
      id,
      method,
      params = {},
    } = JSON.parse(line) as {
      readonly id?: number
      readonly method?: string
      readonly params?: Record<string, unknown>
    }
    if (id === undefined) return
    if (method === "initialize")
      return say({
        id,
        result: {
          protocolVersion: params["protocolVersion"],
          capabilities: { tools: { listChanged: true }, logging: {} },
          serverInfo: { name: "fixture", version: "1.0.0" },
        },
      })
    if (method === "tools/list") return say({ id, result: { tools: tools() } })
    if (method !== "tools/call") return say({ id, error: { code: -32_601, message: "Method not found" } })
    if (params["name"] === "reload") say({ method: "notifications/tools/list_changed" })
    if (params["name"] === "tell")
      say({ method: "notifications/message", params: { level: "error", data: `my token is ${process.env["TOKEN"]}` } })
    return say({ id, result: { content: [{ type: "text", text: params["name"] }] } })
  })
  .on("close", () => process.exit(0))
