// The MCP client of the AI SDK, over HTTP and on the stdin and stdout of `stoa mcp`.
import { experimental_createMCPClient as createMCPClient } from "@ai-sdk/mcp"
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio"
import { play, wanted } from "./story.mjs"

const { args, command, env, token, url } = wanted
const client = await createMCPClient({
  transport:
    url === undefined
      ? new StdioTransport({ command, args, env })
      : { type: "http", url, headers: { authorization: `Bearer ${token}` } },
})
const tools = await client.tools()
await play({
  revision: undefined,
  list: async () =>
    Object.entries(tools).map(([name, tool]) => ({
      name,
      inputSchema: tool.inputSchema.jsonSchema ?? tool.inputSchema,
    })),
  call: (name, input) => tools[name].execute(input, { toolCallId: name, messages: [] }),
  close: () => client.close(),
})
