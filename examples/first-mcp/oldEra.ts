/** An MCP client of the old era: the official SDK 1.x, which begins with `initialize` and keeps a session. */
// #region client
// npm install @modelcontextprotocol/sdk@1.32.2
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"

const { STOA_TOKEN, STOA_URL } = process.env
const transport = new StreamableHTTPClientTransport(new URL("/mcp", STOA_URL), {
  requestInit: { headers: { authorization: `Bearer ${STOA_TOKEN}` } },
})
const client = new Client({ name: "my-agent", version: "1.0.0" })
await client.connect(transport)
const { tools } = await client.listTools()
const { structuredContent } = await client.callTool({ name: "whoami", arguments: {} })
console.log(transport.protocolVersion, tools.length, structuredContent)
await client.close()
// #endregion
