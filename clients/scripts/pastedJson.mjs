// A client's file of MCP servers, as it was pasted: each server in it is reached as it says, and asked who one is there.
import { readFileSync } from "node:fs"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"

const { mcpServers } = JSON.parse(readFileSync(process.argv[2], "utf8"))
for (const { args, command, env, headers, url } of Object.values(mcpServers)) {
  const client = new Client({ name: "pasted", version: "1" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(
    url === undefined
      ? new StdioClientTransport({ command, args, env: { ...process.env, ...env } })
      : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  const { content } = await client.callTool({ name: "whoami", arguments: {} })
  console.log(content[0].text)
  await client.close()
}
