/**
 * `server.mjs KIND [TOOLS]`: an MCP server on a free port of loopback with a tool `hello` that does nothing, the way its
 * makers document it, and as many tools beside it as asked for. None of them knows tokens, lists, policies or records.
 */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { createMcpHandler, McpServer, Server } from "@modelcontextprotocol/server"
import { FastMCP } from "fastmcp"
import { z } from "zod"
import { answer, description, manyOf } from "./hello.mjs"

const [kind, many = "0"] = process.argv.slice(2)
const info = { name: "peer", version: "1.0.0" }
const names = ["hello", ...manyOf(Number(many))]
const inputSchema = z.object({ word: z.string() })
const jsonSchema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] }

/** Made anew for each request or session, as documented; what can be made once is made once. */
const withTools = (server) => {
  for (const name of names) server.registerTool(name, { description, inputSchema }, async () => answer)
  return server
}

/** Without a registry and without validation of arguments: the least that the package can do. */
const lowLevel = () => {
  const server = new Server(info, { capabilities: { tools: {} } })
  const tools = names.map((name) => ({ name, description, inputSchema: jsonSchema }))
  server.setRequestHandler("tools/list", async () => ({ tools }))
  server.setRequestHandler("tools/call", async () => answer)
  return server
}

const bodyOf = (request, then) => {
  const chunks = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => then(JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString())))
}

/** One transport a request. */
const stateless = (makeServer, makeTransport) => async (request, response) => {
  const server = makeServer()
  const transport = makeTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on("close", () => {
    void transport.close()
    void server.close()
  })
  await server.connect(transport)
  await transport.handleRequest(request, response)
}

/** One transport a session, found by its header. */
const sessions = (makeServer, makeTransport) => {
  const open = new Map()
  return async (request, response) => {
    const known = open.get(request.headers["mcp-session-id"])
    if (known !== undefined) return known.handleRequest(request, response)
    const transport = makeTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => open.set(id, transport),
    })
    await makeServer().connect(transport)
    await transport.handleRequest(request, response)
  }
}

const oldServer = () => withTools(new OldServer(info))
const newServer = () => withTools(new McpServer(info))
const oldTransport = (options) => new StreamableHTTPServerTransport(options)
const newTransport = (options) => new NodeStreamableHTTPServerTransport(options)

const handlers = {
  /** The least that answers: reads a message, writes a message. */
  raw: () => (request, response) =>
    bodyOf(request, ({ id }) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id, result: answer })
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      response.end(body)
    }),
  server: () => toNodeHandler(createMcpHandler(newServer)),
  "server-low": () => toNodeHandler(createMcpHandler(lowLevel)),
  "server-sessions": () => sessions(newServer, newTransport),
  sdk: () => stateless(oldServer, oldTransport),
  "sdk-sessions": () => sessions(oldServer, oldTransport),
}

const listen = (handler) =>
  new Promise((resolve) => {
    const server = createServer(handler).listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      resolve({ port, close: () => new Promise((closed) => server.close(closed)) })
    })
  })

const startFast = async () => {
  const { port, close } = await listen()
  await close()
  const silent = () => {}
  const logger = { debug: silent, error: silent, info: silent, log: silent, warn: silent }
  const server = new FastMCP({ ...info, logger })
  for (const name of names) server.addTool({ name, description, parameters: inputSchema, execute: async () => answer })
  const httpStream = { port, host: "127.0.0.1", endpoint: "/mcp", stateless: true, enableJsonResponse: true }
  await server.start({ transportType: "httpStream", httpStream })
  return { port }
}

process.once("disconnect", () => process.exit(0))
const { port } = kind === "fastmcp" ? await startFast() : await listen(handlers[kind]())
process.send({ port })
