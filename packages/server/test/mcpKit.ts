/** Raw MCP requests, for what an official client would never send or never show. */

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly text: string
}

const K = "io.modelcontextprotocol/"
let ids = 0

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
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
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
