/** An MCP client of the new era: the official client 2.x, in which every request stands alone. */
// #region client
// npm install @modelcontextprotocol/client@2.4.0
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"

const { STOA_TOKEN, STOA_URL } = process.env
const transport = new StreamableHTTPClientTransport(new URL("/mcp", STOA_URL), {
  requestInit: { headers: { authorization: `Bearer ${STOA_TOKEN}` } },
})
// "auto" asks for 2026-07-28 first; without it this client speaks the old era.
const client = new Client({ name: "my-agent", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } })
await client.connect(transport)
const { tools } = await client.listTools()
const { structuredContent } = await client.callTool({ name: "whoami", arguments: {} })
console.log(client.getNegotiatedProtocolVersion(), tools.length, structuredContent)
await client.close()
// #endregion
