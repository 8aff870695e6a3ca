/** Times and limits of MCP connections. Seed 004's own are in ToolsConfig; these are added. */
import { Context } from "effect"

export interface MCPSettings {
  /** Requests under way per server, unless its configuration says otherwise. */
  readonly concurrency: number
  /** How long a server we started may leave the era probe unanswered before it counts as old. */
  readonly probeMs: number
  /** The longest time for a call that keeps reporting progress. */
  readonly maxCallMs: number
  /** How long a server we started may take to exit, first after its stdin is closed, then after TERM. */
  readonly graceMs: number
  /** Between attempts to connect or reconnect: doubled each time, up to the longest. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** After this many failures in a row a server gets no requests for the cool-down. */
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
