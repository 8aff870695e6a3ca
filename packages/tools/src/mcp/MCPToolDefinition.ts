/** A server's tool as one of ours: `<server>/<tool>`, medium risk, half a minute, no approval (S4-36). */
import type { Progress } from "@modelcontextprotocol/client"
import { ToolExecutionError, type ToolDefinition, type ToolParameter } from "@stoa/contract"
import { Effect } from "effect"
import type { Tool } from "../Handler.ts"
import type { MCPConnection } from "./MCPConnection.ts"
import type { MCPTool } from "./MCPTool.ts"

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const typeOf = (schema: Json): ToolParameter["type"] => {
  const type = Array.isArray(schema["type"]) ? schema["type"].find((it) => it !== "null") : schema["type"]
  if (type === "integer" || type === "number") return "number"
  return type === "string" || type === "boolean" || type === "array" ? type : "object"
}

/** The first level of the schema for people to read; the schema itself decides. */
const parametersOf = (schema: Json): ReadonlyArray<ToolParameter> => {
  const required: ReadonlyArray<unknown> = Array.isArray(schema["required"]) ? schema["required"] : []
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  return Object.entries(properties).map(([name, value]) => {
    const property = isObject(value) ? value : {}
    const { default: given, description, enum: values } = property
    return {
      name,
      type: typeOf(property),
      description: typeof description === "string" ? description : "",
      required: required.includes(name),
      ...(given === undefined ? {} : { default: given }),
      ...(Array.isArray(values) && values.every((it) => typeof it === "string") ? { enum: values } : {}),
    }
  })
}

export const mcpToolDefinition = (serverName: string, tool: MCPTool): ToolDefinition => ({
  name: `${serverName}/${tool.name}`,
  description: tool.description,
  parameters: parametersOf(tool.inputSchema),
  // Only what the server itself calls destructive counts for more; a missing hint raises nothing.
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

/** Ready for a registry: the result is the server's, whole, and a server that is not there is the tool's failure. */
export const mcpTool = (connection: MCPConnection, tool: MCPTool): Tool => ({
  definition: mcpToolDefinition(connection.name, tool),
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
