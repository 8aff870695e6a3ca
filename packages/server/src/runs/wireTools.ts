/** What an agent may call, as a model is told of it: under wire names, never with anything that would run it. Pure. */
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { inputSchemaOf } from "@stoa/contract"
import type { Callable } from "../calls/catalogue/Catalogue.ts"

export const wireToolsOf = (tools: ReadonlyArray<Callable>): ReadonlyArray<LanguageModelV4FunctionTool> =>
  tools.map(({ asks, tool: { definition, wireName } }) => ({
    type: "function",
    name: wireName,
    description: asks ? `${definition.description} (A person is asked first.)` : definition.description,
    inputSchema: inputSchemaOf(definition) as LanguageModelV4FunctionTool["inputSchema"],
  }))
