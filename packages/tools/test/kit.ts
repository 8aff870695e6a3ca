/** Small tools for the tests. */
import type { ToolDefinition, ToolInput } from "@stoa/contract"
import { addition } from "../../sdk/src/testing/suites/toolService.ts"

export const definition = (over: Partial<ToolDefinition> = {}): ToolDefinition => ({ ...addition(), ...over })

export const input = (over: Partial<ToolInput> = {}): ToolInput => ({
  toolName: "add",
  arguments: { a: 2, b: 3 },
  agentId: "agent-1",
  sessionId: "session-1",
  ...over,
})
