/**
 * The transport to a server, by its configuration. SSE and WebSocket are for servers that support nothing newer.
 */
import {
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { boundedFetch, maxMessageBytes } from "./boundedFetch.ts"
import { programEnvironment } from "../../program/environment.ts"
import type { MCPPorts } from "../session/MCPPorts.ts"
import type { MCPServerConfig } from "../MCPServerConfig.ts"
import { StdioTransport } from "./stdioTransport.ts"
import { taggedFetch } from "./taggedFetch.ts"
import { WebSocketTransport } from "./webSocketTransport.ts"

export type AnyTransport =
  | Transport
  | StdioTransport
  | WebSocketTransport
  | StreamableHTTPClientTransport
  | SSEClientTransport

export const makeTransport = Effect.fnUntraced(function* (
  config: MCPServerConfig,
  ports: MCPPorts,
  provider: OAuthClientProvider | undefined,
  graceMs: number,
) {
  const { args = [], command = "", cwd, endpoint = "", env = {}, headers = {} } = config
  const http = {
    fetch:
      ports.relays === true
        ? taggedFetch(boundedFetch(ports.fetch, maxMessageBytes))
        : boundedFetch(ports.fetch, maxMessageBytes),
    requestInit: { headers },
    ...(provider === undefined ? {} : { authProvider: provider }),
  }
  switch (config.transport) {
    case "stdio":
      return new StdioTransport({ command, args, cwd, env: yield* programEnvironment(env), graceMs }, maxMessageBytes)
    case "websocket":
      return new WebSocketTransport(endpoint, headers, maxMessageBytes)
    case "sse":
      return new SSEClientTransport(new URL(endpoint), http)
    case "streamable-http":
      return new StreamableHTTPClientTransport(new URL(endpoint), http)
  }
})
