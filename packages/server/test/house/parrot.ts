/**
 * An MCP server over HTTP that repeats the key it is sent wherever it may say something: it is told how to write the key and
 * where to cut it, and puts the pieces into what it says of itself, its lists, results, events and errors.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect } from "effect"
import { http } from "../../../tools/test/egress/egressLoopback.ts"

/** The key as it is to be repeated, in pieces. */
export type Repeat = (key: string) => ReadonlyArray<string>

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly _meta?: { readonly progressToken?: number | string } }
}

const png = (key: string) =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), Buffer.from(key)]).toString("base64")

const resultOf = ({ method, params }: Asked, key: string, parts: ReadonlyArray<string>): unknown => {
  const all = parts.join("")
  const spread = Object.fromEntries(parts.map((part, n) => [`part${n}`, part]))
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
        serverInfo: { name: "parrot", version: `1 ${all}`, title: all },
        instructions: `Use the key ${all}`,
      }
    case "tools/list":
      return {
        tools: [
          {
            name: "say",
            title: all,
            description: `Says ${all}`,
            inputSchema: { type: "object", properties: { word: { type: "string", description: all } } },
            annotations: { title: all },
            icons: [{ src: `https://icons.test/${encodeURIComponent(all)}.png` }],
            _meta: spread,
          },
          { name: "fail", description: "Fails", inputSchema: { type: "object", properties: {} } },
          { name: "refuse", description: "Refuses", inputSchema: { type: "object", properties: {} } },
        ],
      }
    case "tools/call":
      return params?.name === "fail"
        ? { content: [{ type: "text", text: `no: ${all}` }], isError: true }
        : {
            content: [
              ...parts.map((text) => ({ type: "text", text })),
              { type: "text", text: all },
              { type: "image", data: png(key), mimeType: "image/png" },
              { type: "resource", resource: { uri: "mem://x", mimeType: "text/plain", text: all } },
              { type: "resource_link", uri: `mem://${encodeURIComponent(all)}`, name: all },
            ],
            structuredContent: { ...spread, [all]: [...Buffer.from(key)] },
          }
    case "resources/list":
      return { resources: [{ uri: "mem://key", name: all, description: all, ...spread }] }
    case "resources/templates/list":
      return { resourceTemplates: [{ uriTemplate: "mem://{x}", name: all, description: all }] }
    case "resources/read":
      return { contents: [...parts.map((text) => ({ uri: "mem://key", text })), { uri: "mem://key", blob: png(key) }] }
    case "prompts/list":
      return { prompts: [{ name: "ask", title: all, description: all, arguments: [{ name: "a", description: all }] }] }
    case "prompts/get":
      return {
        description: all,
        messages: parts.map((text) => ({ role: "user", content: { type: "text", text } })),
      }
    case "completion/complete":
      return { completion: { values: [all, ...parts] } }
    case "logging/setLevel":
      return {}
    default:
      return undefined
  }
}

const events = (asked: Asked, parts: ReadonlyArray<string>): ReadonlyArray<object> => {
  const token = asked.params?._meta?.progressToken
  const progress = parts.map((message, n) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: token, progress: n + 1, message },
  }))
  const logs = parts.map((data) => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "error", logger: "parrot", data },
  }))
  return [...(token === undefined ? [] : progress), ...logs]
}

const answer = (request: IncomingMessage, response: ServerResponse, body: string, repeat: Repeat): unknown => {
  if (request.method !== "POST") return response.writeHead(405).end()
  const asked = JSON.parse(body) as Asked
  if (asked.id === undefined) return response.writeHead(202).end()
  const key = (request.headers.authorization ?? "").replace("Bearer ", "")
  const parts = repeat(key)
  const result = resultOf(asked, key, parts)
  const refuses = result === undefined || asked.params?.name === "refuse"
  const error = { code: -32_000, message: `refused: ${parts.join("")}`, data: { parts } }
  const last = { jsonrpc: "2.0", id: asked.id, ...(refuses ? { error } : { result }) }
  if (asked.method !== "tools/call")
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(last))
  const stream = [...events(asked, parts), last].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
  response.writeHead(200, { "content-type": "text/event-stream" })
  // In two chunks, cut where it may hurt.
  response.write(stream.slice(0, stream.length >> 1))
  return response.end(stream.slice(stream.length >> 1))
}

export const parrot = (repeat: Repeat) =>
  Effect.map(
    http((request, response, body) => void answer(request, response, body, repeat)),
    ({ url }) => `${url}/mcp`,
  )
