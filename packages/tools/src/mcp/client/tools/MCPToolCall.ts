/**
 * The outcome of a call of a server's tool, used by the library alone and by a house with questions, tasks and secrets
 * in between. A result matches what its tool promises, or it is a failure in words a model can act on (G-30, G-32).
 */
import { type MCPConnectionError, ToolExecutionError, ToolTimeoutError } from "@stoa/contract"
import { Effect } from "effect"
import { defaultMCPPorts, type MCPPorts } from "../../session/MCPPorts.ts"
import { short } from "../faults.ts"
import { type MCPRefused, type MCPReply, MCPNoAnswer } from "../exchange/MCPExchange.ts"
import type { MCPTool } from "./MCPTool.ts"

type JsonObject = Readonly<Record<string, unknown>>

/** A call of a server's tool: the name it was made by, what the server says of the tool, and its input. */
export interface MCPToolCall {
  readonly tool: string
  readonly listed: Pick<MCPTool, "name" | "outputSchema">
  readonly arguments: JsonObject
}

const { validate: standardValidate } = defaultMCPPorts()

/** The text of a server's error result, for the error message. */
const reasonOf = ({ content }: JsonObject): string => {
  const blocks = Array.isArray(content) ? (content as ReadonlyArray<{ readonly text?: unknown }>) : []
  const text = blocks.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n")
  return text === "" ? "it gave no reason" : short(text)
}

/** What is wrong with a result, in words; undefined if it matches its tool's schema. */
const resultFault = Effect.fnUntraced(function* (
  { name, outputSchema }: MCPToolCall["listed"],
  result: JsonObject,
  validate: MCPPorts["validate"] = standardValidate,
) {
  if (result["isError"] === true) return `MCP tool "${name}" failed: ${reasonOf(result)}`
  if (outputSchema === undefined) return undefined
  const structure = result["structuredContent"]
  if (structure === undefined) return `MCP tool "${name}" gave no structured content, which its output schema promises`
  const fault = yield* validate(name, outputSchema, structure)
  return fault === undefined
    ? undefined
    : `MCP tool "${name}" ran, but its result is not what its output schema says: ${fault}`
})

/** The result of a call, checked against its tool's schema. */
export const mcpToolResult = Effect.fnUntraced(function* (
  { arguments: input, listed, tool }: MCPToolCall,
  reply: MCPReply,
  validate?: MCPPorts["validate"],
): Effect.fn.Return<JsonObject, ToolExecutionError> {
  const failed = (message: string, cause: unknown) => new ToolExecutionError({ message, toolName: tool, input, cause })
  if (reply._tag !== "Done") return yield* failed(`MCP tool "${listed.name}" did not come to an end`, reply)
  const fault = yield* resultFault(listed, reply.result, validate)
  return fault === undefined ? reply.result : yield* failed(fault, reply.result)
})

/** A call without a result: the server's refusal, its silence, or a failed connection. */
export const mcpToolFailure = (
  { arguments: input, listed, tool }: MCPToolCall,
  error: MCPConnectionError | MCPRefused,
): ToolExecutionError | ToolTimeoutError => {
  if (error._tag === "MCPRefused") {
    const { code, data, message } = error
    const cause = { code, message, ...(data === undefined ? {} : { data }) }
    const said = `MCP tool "${listed.name}" failed: ${message}`
    return new ToolExecutionError({ message: said, toolName: tool, input, cause })
  }
  const { cause, message } = error
  return cause instanceof MCPNoAnswer
    ? new ToolTimeoutError({ message, toolName: tool, timeoutMs: cause.timeoutMs })
    : new ToolExecutionError({ message, toolName: tool, input, cause: error })
}
