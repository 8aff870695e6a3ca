/** Small tools for the tests. */
import type { ToolDefinition, ToolInput } from "@stoa/contract"

export const definition = (over: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: "add",
  description: "Add two numbers",
  parameters: [
    { name: "a", type: "number", description: "First number", required: true },
    { name: "b", type: "number", description: "Second number", required: true },
  ],
  riskLevel: "low",
  timeoutMs: 5000,
  requiresApproval: false,
  source: "function",
  ...over,
})

export const input = (over: Partial<ToolInput> = {}): ToolInput => ({
  toolName: "add",
  arguments: { a: 2, b: 3 },
  agentId: "agent-1",
  sessionId: "session-1",
  ...over,
})
