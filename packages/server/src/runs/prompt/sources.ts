/** The source of a tool's result, as the model is told beside it (G-15). Pure. */
import type { CallRow } from "../../calls/Calls.ts"
import type { CatalogueTool } from "../../calls/catalogue/Traits.ts"
import type { PastStep, Source } from "./conversation.ts"

/** The answer came from what the call waited for. */
const answeredBy: Partial<Record<NonNullable<CallRow["onKind"]>, Source>> = {
  client: "a person",
  run: "an agent",
  reply: "people and agents",
}

/** From the row alone; `labelled` adds what the tool says. */
export const sourceOfCall = ({ onKind }: Pick<CallRow, "onKind">): Source =>
  (onKind === null ? undefined : answeredBy[onKind]) ?? "a tool"

const sourceOfTool = ({ resultSource, tool: { definition } }: Pick<CatalogueTool, "tool" | "resultSource">): Source => {
  if (definition.source === "builtin") return resultSource ?? "people and agents"
  if (definition.source === "mcp" || definition.source === "plugin") return "outside"
  return definition.executionType === "gateway" || definition.executionType === "external" ? "outside" : "a tool"
}

/** A tool that no longer exists still counts as a tool. */
export const labelled = <Step extends PastStep>(
  steps: ReadonlyArray<Step>,
  tools: ReadonlyArray<Pick<CatalogueTool, "tool" | "resultSource">>,
): ReadonlyArray<Step> => {
  const known = new Map(tools.map((one) => [one.tool.wireName, one]))
  return steps.map((step) => {
    const asked = step.parts.filter((part) => part.type === "call")
    const results = step.results.map((result) => {
      const tool = known.get(asked[result.place - 1]?.tool ?? "")
      return result.from !== "a tool" || tool === undefined ? result : { ...result, from: sourceOfTool(tool) }
    })
    return { ...step, results }
  })
}
