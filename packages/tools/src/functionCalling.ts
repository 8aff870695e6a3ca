/** Tools as model APIs take them: Anthropic's `input_schema`, OpenAI's `function.parameters` (S4-44, S4-81). */
import { type FunctionCallingTool, inputSchemaOf, type JsonSchema, type ToolDefinition } from "@stoa/contract"

export interface OpenAITool {
  readonly type: "function"
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

interface Named {
  readonly definition: ToolDefinition
  readonly wireName: string
}

export const toAnthropic = ({ definition, wireName }: Named): FunctionCallingTool => ({
  name: wireName,
  description: definition.description,
  input_schema: inputSchemaOf(definition),
})

export const toOpenAI = ({ definition, wireName }: Named): OpenAITool => ({
  type: "function",
  function: { name: wireName, description: definition.description, parameters: inputSchemaOf(definition) },
})
