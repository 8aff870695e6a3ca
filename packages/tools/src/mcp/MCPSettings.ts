/** Times and limits of MCP connections. Seed 004's own are in ToolsConfig; these stand beside them. */
import { Context } from "effect"

export interface MCPSettings {
  /** Requests under way at one server at once, unless its configuration says otherwise. */
  readonly concurrency: number
  /** How long a server we started may leave the question for its era unanswered before it is taken for an old one. */
  readonly probeMs: number
  /** The longest a call that keeps showing progress may take. */
  readonly maxCallMs: number
  /** How long a server we started may take to go, first after its stdin is closed, then after TERM. */
  readonly graceMs: number
  /** Between tries to connect, and to find a lost server again: doubled each time, up to the longest. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** After so many failures in a row a server is left alone for the cool-down. */
  readonly breaker: { readonly failures: number; readonly coolDownMs: number }
}

export const defaultMCPSettings: MCPSettings = {
  concurrency: 16,
  probeMs: 2000,
  maxCallMs: 300_000,
  graceMs: 2000,
  backoffMs: 250,
  maxBackoffMs: 30_000,
  breaker: { failures: 5, coolDownMs: 30_000 },
}

export const MCPSettings = Context.Reference<MCPSettings>("tools/mcp/MCPSettings", {
  defaultValue: () => defaultMCPSettings,
})
