/** Which endpoint a path names: `/mcp`, `/mcp/<toolset>`, `/mcp/servers/<name>`, and seed 002's `/mcp/jsonrpc` (X-59). */
import type { Endpoint } from "../desk/Desk.ts"

export interface EndpointAddress {
  readonly endpoint: Endpoint
  /** One text an endpoint: what a session or a state is bound to. */
  readonly key: string
  /** Answers a request without a token too, with what the crossroads may see. */
  readonly open: boolean
}

const all: EndpointAddress = { endpoint: { kind: "all" }, key: "all", open: false }
const engrams: EndpointAddress = {
  endpoint: { kind: "toolset", name: "engrams", anyway: true },
  key: "jsonrpc",
  open: true,
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export const placeOf = (path: string): EndpointAddress | undefined => {
  if (path === "/mcp" || path === "/mcp/") return all
  if (path === "/mcp/jsonrpc") return engrams
  if (!path.startsWith("/mcp/")) return undefined
  const parts = path.slice(5).split("/")
  const name = decoded(parts.at(-1)!)
  if (name === undefined || name === "" || name.length > 128) return undefined
  if (parts.length === 1) return { endpoint: { kind: "toolset", name }, key: `toolset ${name}`, open: false }
  if (parts.length !== 2 || parts[0] !== "servers") return undefined
  return { endpoint: { kind: "server", name }, key: `server ${name}`, open: false }
}
