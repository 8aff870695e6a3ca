/** A tool's result in MCP's own shape: whether it is a failure, and whether it is what the tool's output schema promises. */
import { defaultMCPPorts } from "@stoa/tools"
import { Effect } from "effect"

type JsonObject = Readonly<Record<string, unknown>>

const { validate } = defaultMCPPorts()
const longestReason = 2000

const reasonOf = ({ content }: JsonObject): string => {
  const blocks = Array.isArray(content) ? (content as ReadonlyArray<{ readonly text?: unknown }>) : []
  const text = blocks.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n")
  return text === "" ? "it gave no reason" : text.slice(0, longestReason)
}

/** What is wrong with a result, in words; undefined where it is as the tool said it would be. */
export const mcpResultFault = Effect.fnUntraced(function* (
  tool: string,
  outputSchema: JsonObject | undefined,
  result: JsonObject,
) {
  if (result["isError"] === true) return `MCP tool "${tool}" failed: ${reasonOf(result)}`
  if (outputSchema === undefined) return undefined
  const structure = result["structuredContent"]
  if (structure === undefined) return `MCP tool "${tool}" gave no structured content, which its output schema promises`
  const fault = yield* validate(tool, outputSchema, structure)
  return fault === undefined
    ? undefined
    : `MCP tool "${tool}" ran, but its result is not what its output schema says: ${fault}`
})
