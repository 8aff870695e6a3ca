// The two official clients, over HTTP and on the stdin and stdout of `stoa mcp`.
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client"
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio"
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { play, wanted } from "./story.mjs"

const isOld = wanted.client === "sdk"
const about = { name: "interop", version: "1" }
const client = isOld ? new OldClient(about) : new NewClient(about, { versionNegotiation: { mode: "auto" } })
const [Http, Stdio] = isOld ? [OldHttp, OldStdio] : [NewHttp, NewStdio]
const { args, command, env, token, url } = wanted
const transport =
  url === undefined
    ? new Stdio({ command, args, env })
    : new Http(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } })
await client.connect(transport)
await play({
  revision: isOld ? (transport.protocolVersion ?? "2025-11-25") : client.getNegotiatedProtocolVersion(),
  list: async () => (await client.listTools()).tools,
  call: (name, input) => client.callTool({ name, arguments: input }),
  close: () => client.close(),
})
