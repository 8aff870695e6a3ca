/** A minimal MCP client over HTTP (revision 2025-11-25) for the suites. */
import { expectTrue, type ListedTool, type Outcome, type ToolClient } from "./suite.ts"

interface Reply {
  readonly id?: unknown
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

/** A reply is in a JSON body, or in an event of a stream. */
const replyIn = (text: string, id: number): Reply | undefined => {
  const documents = text.trimStart().startsWith("{")
    ? [text]
    : text.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))
  return documents
    .filter((one) => one.trim() !== "")
    .map((one) => JSON.parse(one) as Reply)
    .find((one) => one.id === id)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const mcpToolClient = async (options: {
  readonly url: string
  readonly token?: string
}): Promise<ToolClient> => {
  const version = "2025-11-25"
  let session: string | undefined
  let last = 0
  const post = async (message: object) => {
    const response = await fetch(options.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(session === undefined ? {} : { "mcp-session-id": session, "mcp-protocol-version": version }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    })
    session ??= response.headers.get("mcp-session-id") ?? undefined
    return await response.text()
  }
  const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const id = ++last
    const text = await post({ id, method, params })
    const reply = replyIn(text, id)
    if (reply?.error !== undefined) return { isError: true, content: [{ type: "text", text: reply.error.message }] }
    expectTrue(reply?.result !== undefined, `${options.url} did not answer ${method}: ${text.slice(0, 500)}`)
    return reply!.result!
  }
  await ask("initialize", { protocolVersion: version, capabilities: {}, clientInfo: { name: "suite", version: "1" } })
  await post({ method: "notifications/initialized" })
  return {
    tools: async () => {
      const tools: Array<ListedTool> = []
      let cursor: unknown
      do {
        const page = await ask("tools/list", cursor === undefined ? {} : { cursor })
        tools.push(...((page["tools"] ?? []) as ReadonlyArray<ListedTool>))
        cursor = page["nextCursor"]
      } while (cursor !== undefined)
      return tools
    },
    call: async (name, input = {}): Promise<Outcome> => {
      const result = await ask("tools/call", { name, arguments: input })
      const content = (result["content"] ?? []) as ReadonlyArray<{ readonly type: string; readonly text?: string }>
      const text = content.map((one) => one.text ?? "").join("\n")
      return { isError: result["isError"] === true, text, value: parsed(text) }
    },
  }
}
