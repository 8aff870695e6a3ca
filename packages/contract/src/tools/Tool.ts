/**
 * A tool and one use of it, with seed 004's field names (S4-07 … S4-14) and what the other seeds add (X-21): where it
 * runs, who sees its calls, and what its author says about it are separate things.
 */
import { Schema } from "effect"

export const ToolParameterSchema = Schema.Struct({
  name: Schema.String,
  type: Schema.Literals(["string", "number", "boolean", "object", "array"]),
  description: Schema.String,
  required: Schema.Boolean,
  default: Schema.optionalKey(Schema.Unknown),
  enum: Schema.optionalKey(Schema.Array(Schema.String)),
})
export type ToolParameter = typeof ToolParameterSchema.Type

export const ToolCategory = Schema.Literals(["search", "file", "code", "http", "data", "custom"])
export const RiskLevel = Schema.Literals(["low", "medium", "high", "critical"])
export type RiskLevel = typeof RiskLevel.Type
/** Where a tool came from: seed 004's four, and seed 001's configuration. */
export const ToolSource = Schema.Literals(["builtin", "mcp", "function", "plugin", "configured"])
export type ToolSource = typeof ToolSource.Type
/** Where a call runs (S1-05). */
export const ExecutionType = Schema.Literals(["gateway", "external", "space", "internal"])
export type ExecutionType = typeof ExecutionType.Type
/** What the active space sees of a call (S1-12). */
export const Visibility = Schema.Literals(["visible", "hidden", "result-only"])
export type Visibility = typeof Visibility.Type

/** A JSON Schema (2020-12) as its author wrote it. */
export const JsonSchema = Schema.Record(Schema.String, Schema.Unknown)
export type JsonSchema = typeof JsonSchema.Type

/** Hints of a tool's author (MCP). They are claims; permissions are never derived from them. */
export const ToolAnnotations = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  readOnlyHint: Schema.optionalKey(Schema.Boolean),
  destructiveHint: Schema.optionalKey(Schema.Boolean),
  idempotentHint: Schema.optionalKey(Schema.Boolean),
  openWorldHint: Schema.optionalKey(Schema.Boolean),
})
export type ToolAnnotations = typeof ToolAnnotations.Type

export const ToolDefinitionSchema = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  /** Seed 004's flat list. With `inputSchema` it is a summary for people; the schema decides. */
  parameters: Schema.Array(ToolParameterSchema),
  returnType: Schema.optionalKey(Schema.String),
  category: Schema.optionalKey(ToolCategory),
  riskLevel: RiskLevel,
  timeoutMs: Schema.Finite,
  requiresApproval: Schema.Boolean,
  source: ToolSource,
  /** The whole schema, if a flat list cannot express it (S4-38). */
  inputSchema: Schema.optionalKey(JsonSchema),
  outputSchema: Schema.optionalKey(JsonSchema),
  annotations: Schema.optionalKey(ToolAnnotations),
  /** Seed 001's axes; if absent, it runs here and its calls are hidden, like every built-in tool's (S1-20). */
  executionType: Schema.optionalKey(ExecutionType),
  visibility: Schema.optionalKey(Visibility),
  /** The component that shows a call (S1-31). */
  customUI: Schema.optionalKey(Schema.String),
})
export type ToolDefinition = typeof ToolDefinitionSchema.Type

export const ToolInputSchema = Schema.Struct({
  toolName: Schema.String,
  arguments: Schema.Record(Schema.String, Schema.Unknown),
  agentId: Schema.String,
  sessionId: Schema.String,
  correlationId: Schema.optionalKey(Schema.String),
  /** The same key means the same call: a retry gets the first one and its result. */
  idempotencyKey: Schema.optionalKey(Schema.String),
})
export type ToolInput = typeof ToolInputSchema.Type

export const ToolOutputSchema = Schema.Struct({
  toolName: Schema.String,
  success: Schema.Boolean,
  result: Schema.Unknown,
  error: Schema.optionalKey(Schema.String),
  executionTimeMs: Schema.Finite,
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
})
export type ToolOutput = typeof ToolOutputSchema.Type

/** X-55: seed 004's three, and the present standard. */
export const MCPTransport = Schema.Literals(["stdio", "sse", "websocket", "streamable-http"])
export type MCPTransport = typeof MCPTransport.Type

export const MCPServerSchema = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  transport: MCPTransport,
  endpoint: Schema.optionalKey(Schema.String),
  command: Schema.optionalKey(Schema.String),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  tools: Schema.Array(Schema.String),
  status: Schema.Literals(["connected", "disconnected", "error"]),
})
export type MCPServer = typeof MCPServerSchema.Type

const RequestId = Schema.Union([Schema.String, Schema.Finite])

export const MCPRequestSchema = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: RequestId,
  method: Schema.String,
  params: Schema.optionalKey(Schema.Unknown),
})
export type MCPRequest = typeof MCPRequestSchema.Type

export const MCPResponseSchema = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: RequestId,
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(
    Schema.Struct({ code: Schema.Finite, message: Schema.String, data: Schema.optionalKey(Schema.Unknown) }),
  ),
})
export type MCPResponse = typeof MCPResponseSchema.Type

export const FunctionCallingToolSchema = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  input_schema: JsonSchema,
})
export type FunctionCallingTool = typeof FunctionCallingToolSchema.Type
