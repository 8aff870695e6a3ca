/** Requests of MCP as the load generator sends them, of the last revision with a handshake and of the one without. */
import type { LoadQuestion } from "../children/load.ts"

/** The tool they call, as the peers have it. */
export const hello = {
  name: "hello",
  description: "Says hello.",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  executionType: "internal",
  execution: { output: { ok: true } },
}

export type Era = "2025-11-25" | "2026-07-28"

type Sent = Pick<LoadQuestion, "method" | "path" | "body" | "headers">

const reserved = "io.modelcontextprotocol/"
const envelope = {
  [`${reserved}protocolVersion`]: "2026-07-28",
  [`${reserved}clientCapabilities`]: {},
  [`${reserved}clientInfo`]: { name: "bench", version: "1.0.0" },
}
const accept = "application/json, text/event-stream"
const path = "/mcp"

/** A POST with a message whose id never comes twice. */
const messageOf = (era: Era, rpc: string, params: object, headers: Readonly<Record<string, string>>): Sent => ({
  method: "POST",
  path,
  headers: { accept, "mcp-protocol-version": era, ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", id: "#", method: rpc, params }),
})

export const callOf = (era: Era, tool: string, session?: string): Sent => {
  const params = { name: tool, arguments: { word: "x" } }
  if (era === "2026-07-28")
    return messageOf(
      era,
      "tools/call",
      { ...params, _meta: envelope },
      { "mcp-method": "tools/call", "mcp-name": tool },
    )
  return messageOf(era, "tools/call", params, session === undefined ? {} : { "mcp-session-id": session })
}

export const listOf = (era: Era, session?: string): Sent =>
  era === "2026-07-28"
    ? messageOf(era, "tools/list", { _meta: envelope }, { "mcp-method": "tools/list" })
    : messageOf(era, "tools/list", {}, session === undefined ? {} : { "mcp-session-id": session })

const handshake = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1.0.0" },
}

export const initializeOf = (): Sent => messageOf("2025-11-25", "initialize", handshake, {})

/** A session of a server that keeps some. */
export const openSession = async (port: number): Promise<string> => {
  const { body, headers } = initializeOf()
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: body!,
  })
  await response.text()
  return response.headers.get("mcp-session-id")!
}
