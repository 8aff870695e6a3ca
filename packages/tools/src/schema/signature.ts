/** A tool's parameters in one line that a model can imitate: `web-search(query: string, maxResults?: number = 5)`. */
import type { ToolDefinition } from "@stoa/contract"

const fromList = (definition: ToolDefinition): ReadonlyArray<string> =>
  definition.parameters.map(({ default: usual, enum: values, name, required, type }) => {
    const kind = values === undefined ? type : values.map((value) => JSON.stringify(value)).join(" | ")
    return `${name}${required ? "" : "?"}: ${kind}${usual === undefined ? "" : ` = ${JSON.stringify(usual)}`}`
  })

/** More of them would hide the rest of the line. */
const maxChoices = 8

const kindOf = (property: unknown): string => {
  const { enum: choices, type } = Object(property) as { readonly enum?: unknown; readonly type?: unknown }
  if (Array.isArray(choices) && choices.length > 0 && choices.length <= maxChoices) {
    const kind = choices.map((one) => JSON.stringify(one)).join(" | ")
    if (kind.length <= 100) return kind
  }
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" | ") : "any"
}

const fromSchema = (schema: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const properties = schema["properties"]
  if (typeof properties !== "object" || properties === null) return []
  const required = Array.isArray(schema["required"]) ? (schema["required"] as ReadonlyArray<unknown>) : []
  return Object.entries(properties as Record<string, unknown>)
    .slice(0, 30)
    .map(([name, property]) => `${name}${required.includes(name) ? "" : "?"}: ${kindOf(property)}`)
}

/** How to call it. For a server's tool without its name, which differs at each door. */
export const callAs = (definition: ToolDefinition): string => {
  const { inputSchema, name } = definition
  const takes = `(${(inputSchema === undefined ? fromList(definition) : fromSchema(inputSchema)).join(", ")})`
  return name.includes("/") ? `It takes ${takes}` : `Call it as ${name}${takes}`
}
