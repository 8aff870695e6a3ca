/** `stdioServer.mjs`: an MCP server over stdio, of the official package, with the tool `hello`. */
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"
import { answer, description } from "./hello.mjs"

serveStdio(() => {
  const server = new McpServer({ name: "stdio", version: "1.0.0" })
  server.registerTool("hello", { description, inputSchema: z.object({ word: z.string() }) }, async () => answer)
  return server
})
