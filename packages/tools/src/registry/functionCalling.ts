/**
 * Tools in the forms of others: Anthropic's `input_schema`, OpenAI's `function.parameters` (S4-44, S4-81), MCP's
 * listing.
 */
import {
  type FunctionCallingTool,
  inputSchemaOf,
  type JsonSchema,
  type ToolAnnotations,
  type ToolDefinition,
} from "@stoa/contract"

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

interface FunctionForms {
  readonly anthropic: FunctionCallingTool
  readonly openai: OpenAITool
}

const made = new WeakMap<Named, FunctionForms>()
/** Made once per tool: if one of a thousand changes, only that one is made again (S4-110). */
export const functionForms = (tool: Named): FunctionForms => {
  const known = made.get(tool)
  if (known !== undefined) return known
  const forms = { anthropic: toAnthropic(tool), openai: toOpenAI(tool) }
  made.set(tool, forms)
  return forms
}

/** A tool in `tools/list`. */
export interface MCPListedTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
}

export const toMCP = ({ definition, wireName }: Named): MCPListedTool => {
  const { annotations, outputSchema } = definition
  return {
    name: wireName,
    ...(annotations?.title === undefined ? {} : { title: annotations.title }),
    description: definition.description,
    inputSchema: inputSchemaOf(definition),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}
