/** Tools as model APIs take them: Anthropic's `input_schema`, OpenAI's `function.parameters` (S4-44, S4-81). */
import type { FunctionCallingTool, JsonSchema, ToolDefinition, ToolParameter } from "@stoa/contract"

export interface OpenAITool {
  readonly type: "function"
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

interface Named {
  readonly definition: ToolDefinition
  readonly wireName: string
}

const property = ({ default: usual, description, enum: values, type }: ToolParameter) => ({
  type,
  description,
  ...(values === undefined ? {} : { enum: values }),
  ...(usual === undefined ? {} : { default: usual }),
})

/** The schema as its author wrote it; a flat list becomes the schema it stands for. */
export const inputSchemaOf = (definition: ToolDefinition): JsonSchema =>
  definition.inputSchema ?? {
    type: "object",
    properties: Object.fromEntries(definition.parameters.map((parameter) => [parameter.name, property(parameter)])),
    required: definition.parameters.filter(({ required }) => required).map(({ name }) => name),
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
