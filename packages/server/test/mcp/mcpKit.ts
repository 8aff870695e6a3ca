/**
 * Raw MCP requests, for what an official client would never send or never show. Whatever comes back is held against the
 * official schema of its revision, message by message.
 */
import { messageFault } from "./mcpSchemas.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly text: string
}

const K = "io.modelcontextprotocol/"
let ids = 0

/** The revision each session has agreed on. */
const agreed = new Map<string, string>()
const newRevision = "2026-07-28"

type Sent = { readonly id?: unknown; readonly method?: string }
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Checks what comes back to a request: messages of JSON-RPC only, for a refusal of HTTP's has its own shape. */
const checkerOf = (sent: unknown, headers: Record<string, string>) => {
  const requests = (Array.isArray(sent) ? sent : [sent]).filter(isObject) as ReadonlyArray<Sent>
  const methods = new Map(requests.map(({ id, method }) => [id, String(method)]))
  const named =
    headers["mcp-protocol-version"] === newRevision ? newRevision : agreed.get(headers["mcp-session-id"] ?? "")
  return (message: unknown): void => {
    for (const one of Array.isArray(message) ? message : [message]) {
      if (!isObject(one) || one["jsonrpc"] !== "2.0") continue
      const greeting = isObject(one["result"]) ? one["result"]["protocolVersion"] : undefined
      // Before 2025-11-25 a fault could not be told without an id, which is not always known.
      const nameless = one["error"] !== undefined && one["id"] === undefined
      const revision = nameless ? newRevision : (named ?? (typeof greeting === "string" ? greeting : "2025-03-26"))
      const fault = messageFault(revision, one, methods)
      if (fault !== undefined) throw new Error(`${fault}: ${JSON.stringify(one).slice(0, 2000)}`)
    }
  }
}

const parsed = (text: string): unknown => {
  if (text === "") return undefined
  if (/^(event|data|id|:)/.test(text)) {
    const data = text.split("\n").filter((line) => line.startsWith("data: {"))
    return JSON.parse(data.at(-1)!.slice(6))
  }
  return JSON.parse(text)
}

export const post = async (
  url: string,
  token: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const answer = { status: response.status, headers: response.headers, text, body: parsed(text) as Answer["body"] }
  const session = response.headers.get("mcp-session-id")
  if (session !== null) agreed.set(session, String(answer.body?.result?.protocolVersion))
  const check = checkerOf(body, headers)
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) check(answer.body)
  else for (const line of text.split("\n")) if (line.startsWith("data: {")) check(JSON.parse(line.slice(6)))
  return answer
}

export const oldRequest = (
  url: string,
  token: string | undefined,
  method: string,
  params: object = {},
  session?: string,
): Promise<Answer> =>
  post(
    url,
    token,
    { jsonrpc: "2.0", id: ++ids, method, params },
    session === undefined ? {} : { "mcp-session-id": session },
  )

export const initialized = async (
  url: string,
  token: string | undefined,
  capabilities: object = {},
  protocolVersion = "2025-11-25",
): Promise<string> => {
  const params = { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } }
  const { headers } = await oldRequest(url, token, "initialize", params)
  return headers.get("mcp-session-id")!
}

export const envelope = (capabilities: object = {}) => ({
  [`${K}protocolVersion`]: "2026-07-28",
  [`${K}clientCapabilities`]: capabilities,
  [`${K}clientInfo`]: { name: "test", version: "1" },
})

export const newRequest = (
  url: string,
  token: string | undefined,
  method: string,
  params: Record<string, unknown> = {},
  options: { readonly capabilities?: object; readonly headers?: Record<string, string>; readonly meta?: object } = {},
): Promise<Answer> => {
  const name = params["name"] ?? params["uri"] ?? params["taskId"]
  return post(
    url,
    token,
    {
      jsonrpc: "2.0",
      id: ++ids,
      method,
      params: { ...params, _meta: { ...envelope(options.capabilities), ...options.meta } },
    },
    {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...options.headers,
    },
  )
}

interface Frame {
  readonly id?: string
  readonly retry?: string
  readonly data?: Readonly<Record<string, unknown>>
}
export interface Stream {
  readonly status: number
  readonly next: () => Promise<Frame>
  /** Whether it ends without another frame. */
  readonly ended: () => Promise<boolean>
  readonly close: () => Promise<void>
}

const frameOf = (text: string): Frame => {
  const frame: Record<string, unknown> = {}
  for (const line of text.split("\n")) {
    const at = line.indexOf(":")
    const [name, value] = [line.slice(0, at), line.slice(at + 1).trim()]
    if (name === "data" && value !== "") frame["data"] = JSON.parse(value)
    else if (name === "id" || name === "retry") frame[name] = value
  }
  return frame
}

const streamOf = (response: Response, controller: AbortController, check: (message: unknown) => void): Stream => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  const pull = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n")
      if (end !== -1) {
        const frame = text.slice(0, end)
        text = text.slice(end + 2)
        if (!frame.startsWith(":")) return frame
        continue
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      text += value
    }
  }
  return {
    status: response.status,
    next: async () => {
      const frame = await pull()
      if (frame === undefined) throw new Error("the stream has ended")
      const read = frameOf(frame)
      check(read.data)
      return read
    },
    ended: async () => (await pull()) === undefined,
    close: async () => {
      controller.abort()
      await reader.cancel().catch(() => undefined)
    },
  }
}

const start = async (url: string, init: RequestInit): Promise<Stream> => {
  const controller = new AbortController()
  const headers = init.headers as Record<string, string>
  const sent: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined
  return streamOf(await fetch(url, { ...init, signal: controller.signal }), controller, checkerOf(sent, headers))
}
const usual = (token: string, headers: Record<string, string>) => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  authorization: `Bearer ${token}`,
  ...headers,
})

/** A request whose answer is read frame by frame. `meanwhile` runs before its head has come. */
export const opened = Object.assign(
  async (
    url: string,
    token: string,
    session: string | undefined,
    method: string,
    params: object,
    headers: Record<string, string> = {},
    meanwhile?: () => Promise<void>,
  ): Promise<Stream> => {
    const init = {
      method: "POST",
      headers: usual(token, { ...headers, ...(session === undefined ? {} : { "mcp-session-id": session }) }),
      body: JSON.stringify({ jsonrpc: "2.0", id: ++ids, method, params }),
    }
    const [stream] = await Promise.all([start(url, init), meanwhile?.()])
    return stream
  },
  {
    get: (url: string, token: string, headers: Record<string, string>) =>
      start(url, { headers: { ...usual(token, headers), accept: "text/event-stream" } }),
    /** The id of the request that was opened last. */
    sent: () => ids,
    post: (url: string, token: string, body: unknown, headers: Record<string, string>) =>
      post(url, token, body, headers),
  },
)
