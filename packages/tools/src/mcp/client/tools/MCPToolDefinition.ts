/** A server's tool as one of ours: `<server>/<tool>`, medium risk, half a minute, no approval (S4-36). */
import type { Progress } from "@modelcontextprotocol/client"
import { parametersOf, ToolExecutionError, type ToolDefinition } from "@stoa/contract"
import { Effect } from "effect"
import type { Tool } from "../../../Handler.ts"
import type { MCPConnection } from "../MCPConnection.ts"
import type { MCPTool } from "./MCPTool.ts"

export const mcpToolDefinition = (serverName: string, tool: MCPTool): ToolDefinition => ({
  name: `${serverName}/${tool.name}`,
  description: tool.description,
  parameters: parametersOf(tool.inputSchema),
  // Only a tool that its server calls destructive is high risk; a missing hint raises nothing.
  riskLevel: tool.annotations?.destructiveHint === true ? "high" : "medium",
  timeoutMs: 30_000,
  requiresApproval: false,
  source: "mcp",
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
  ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
})

const progressOf = ({ message, progress, total }: Progress) => ({
  progress,
  ...(total === undefined ? {} : { total }),
  ...(message === undefined ? {} : { message }),
})

/** Ready for a registry: the result is the server's complete result, and a missing server is a failure of the tool. */
export const mcpTool = (connection: MCPConnection, tool: MCPTool): Tool => ({
  definition: mcpToolDefinition(connection.name, tool),
  // The schema is about a part of the result, which is checked where the call is made.
  checksOutput: true,
  handler: (args, context) =>
    connection.callTool(tool.name, args, { onProgress: (it) => context.progress(progressOf(it)) }).pipe(
      Effect.catchTag(
        "MCPConnectionError",
        (error) =>
          new ToolExecutionError({
            message: error.message,
            toolName: `${connection.name}/${tool.name}`,
            input: args,
            cause: error,
          }),
      ),
    ),
})
