/**
 * A small MCP server over HTTP, of one era, whose tools are the test's own: what it was sent is written down, and it says
 * on a call's stream whatever the test wants. It lives in the test, so it outlives a house that is killed.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

type JsonObject = Readonly<Record<string, unknown>>
const K = "io.modelcontextprotocol/"
const newRevision = "2026-07-28"

interface Message {
  readonly id?: number | string
  readonly method?: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params?: any
  readonly result?: JsonObject
  readonly error?: unknown
}

/** One request as a tool or a method sees it. */
interface Request {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params: any
  /** Says something before the answer. */
  readonly tell: (method: string, params: JsonObject) => void
  /** Asks whoever called, on the call's own stream, as the old era does. */
  readonly ask: (method: string, params: JsonObject) => Promise<JsonObject>
  /** For an answer that is none of MCP: whoever ends it has answered. */
  readonly response: ServerResponse
}
type Answering = (request: Request) => JsonObject | Promise<JsonObject>

export interface Served {
  readonly url: string
  readonly heard: ReadonlyArray<Message>
  /** What was sent of one method. */
  readonly sent: (method: string) => ReadonlyArray<Message>
}

export const text = (words: string): JsonObject => ({ content: [{ type: "text", text: words }] })
export const form = (message: string, ...keys: ReadonlyArray<string>): JsonObject => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
    },
  },
})
/** The answer of the new era that asks. */
export const asking = (inputRequests: JsonObject, requestState?: string): JsonObject => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState === undefined ? {} : { requestState }),
})
/** No answer, but a fault of the protocol. */
export const refused = (code: number, message: string, data?: unknown): JsonObject => ({
  refused: { code, message, ...(data === undefined ? {} : { data }) },
})
/** The answer of the new era that became a task. */
export const made = (taskId: string): JsonObject => ({ resultType: "task", ...taskIs(taskId, "working") })
export const taskIs = (taskId: string, status: string, more: JsonObject = {}): JsonObject => ({
  taskId,
  status,
  createdAt: "2026-01-01T00:00:00Z",
  lastUpdatedAt: "2026-01-01T00:00:00Z",
  ttlMs: 3_600_000,
  pollIntervalMs: 50,
  ...more,
})

const info = { name: "fixture", version: "1.0.0" }
const toolsOf = (tools: Readonly<Record<string, Answering>>) =>
  Object.keys(tools).map((name) => ({ name, description: `does ${name}`, inputSchema: { type: "object" } }))

export const served = (
  era: "old" | "new",
  tools: Readonly<Record<string, Answering>>,
  others: Readonly<Record<string, Answering>> = {},
) =>
  Effect.acquireRelease(
    Effect.callback<Served & { readonly close: () => void }>((resume) => {
      const heard: Array<Message> = []
      const asked = new Map<string, (answer: JsonObject) => void>()
      let questions = 0

      const methods: Readonly<Record<string, Answering>> = {
        initialize: () => ({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, logging: {} },
          serverInfo: info,
        }),
        "server/discover": () => ({
          supportedVersions: [newRevision],
          capabilities: { tools: {}, logging: {}, extensions: { [`${K}tasks`]: {} } },
          ttlMs: 0,
          cacheScope: "private",
        }),
        "logging/setLevel": () => ({}),
        "tools/list": () => ({
          tools: toolsOf(tools),
          ...(era === "new" ? { ttlMs: 0, cacheScope: "private" } : {}),
        }),
        "tools/call": (request) => tools[request.params.name as string]!(request),
        ...others,
      }

      const respond = async (message: Message, response: ServerResponse) => {
        const open = () => {
          if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" })
        }
        const write = (it: JsonObject) => {
          open()
          response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...it })}\n\n`)
        }
        if (message.method === "subscriptions/listen") {
          const params = { notifications: {}, _meta: { [`${K}subscriptionId`]: message.id } }
          return write({ method: "notifications/subscriptions/acknowledged", params })
        }
        const answering = methods[message.method ?? ""]
        if (answering === undefined) {
          write({ id: message.id, error: { code: -32_601, message: "Method not found" } })
          return response.end()
        }
        const result = await answering({
          params: message.params ?? {},
          response,
          tell: (method, params) => write({ method, params }),
          ask: (method, params) =>
            new Promise((resolve) => {
              const id = `q${++questions}`
              asked.set(id, resolve)
              write({ id, method, params })
            }),
        })
        if (response.writableEnded) return undefined
        if (result["refused"] !== undefined) {
          write({ id: message.id, error: result["refused"] })
          return response.end()
        }
        const whole =
          era === "new" ? { resultType: "complete", _meta: { [`${K}serverInfo`]: info }, ...result } : result
        write({ id: message.id, result: whole })
        return response.end()
      }

      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
        request.on("end", () => {
          if (request.method !== "POST") return response.writeHead(405).end()
          const message = JSON.parse(body) as Message
          if ((request.headers["mcp-protocol-version"] === newRevision) !== (era === "new")) {
            response.writeHead(400, { "content-type": "application/json" })
            const error = { code: -32_000, message: "Bad Request: Unsupported protocol version" }
            return response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }))
          }
          heard.push(message)
          if (message.method !== undefined && message.id !== undefined) return void respond(message, response)
          if (message.method === undefined) {
            const hears = asked.get(String(message.id))
            asked.delete(String(message.id))
            hears?.(message.result ?? { action: "cancel" })
          }
          return response.writeHead(202).end()
        })
      }).listen(0, "127.0.0.1", () => {
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
        resume(Effect.succeed({ url, heard, sent: (method) => heard.filter((one) => one.method === method), close }))
      })
    }),
    ({ close }) => Effect.sync(close),
  )
