/** A list of tools in the form of each revision. Rendered once per list and revision. */
import type { JsonObject, ListedTool } from "../desk/Desk.ts"
import { paramHeaders } from "./headers.ts"
import { isObject } from "./message.ts"
import { featuresOf, type Revision } from "./revision.ts"

const keyword = "x-mcp-header"
const without = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(without)
  if (!isObject(node)) return node
  return Object.fromEntries(Object.entries(node).flatMap(([key, it]) => (key === keyword ? [] : [[key, without(it)]])))
}

const shaped = (schema: JsonObject): JsonObject =>
  schema["type"] === "object" ? schema : { ...schema, type: "object" }

/** The old schemas want an object for every property: `true` and `false` are written out. */
const spelledOut = (schema: JsonObject): JsonObject => {
  const properties = schema["properties"]
  if (!isObject(properties) || !Object.values(properties).some((it) => typeof it === "boolean")) return schema
  const written = Object.entries(properties).map(([name, it]) => [
    name,
    it === true ? {} : it === false ? { not: {} } : it,
  ])
  return { ...schema, properties: Object.fromEntries(written) }
}

/** Whether an old client may see this output schema, and with it the structured content. */
export const isObjectSchema = (schema: JsonObject | undefined): boolean => schema?.["type"] === "object"

export const projectTool = (tool: ListedTool, revision: Revision): JsonObject => {
  const { annotations, icons, stateless, structured } = featuresOf(revision)
  const input = shaped(tool.inputSchema)
  const output = tool.outputSchema
  const outputShown = structured && output !== undefined && (stateless || isObjectSchema(output))
  return {
    name: tool.name,
    ...(structured && tool.title !== undefined ? { title: tool.title } : {}),
    description: tool.description,
    inputSchema: stateless ? (paramHeaders(input) === undefined ? without(input) : input) : spelledOut(input),
    ...(outputShown ? { outputSchema: stateless ? output : spelledOut(output) } : {}),
    ...(annotations && tool.annotations !== undefined ? { annotations: tool.annotations } : {}),
    ...(tool.tags === undefined ? {} : { tags: tool.tags }),
    ...(icons && tool.icons !== undefined ? { icons: tool.icons } : {}),
    ...(structured && tool.meta !== undefined ? { _meta: tool.meta } : {}),
  }
}

const rendered = new WeakMap<ReadonlyArray<ListedTool>, Map<Revision, string>>()

/** The array of `tools/list`, as text. */
export const toolsText = (tools: ReadonlyArray<ListedTool>, revision: Revision): string => {
  let texts = rendered.get(tools)
  if (texts === undefined) rendered.set(tools, (texts = new Map()))
  let text = texts.get(revision)
  if (text === undefined) texts.set(revision, (text = JSON.stringify(tools.map((it) => projectTool(it, revision)))))
  return text
}

const indexes = new WeakMap<ReadonlyArray<ListedTool>, ReadonlyMap<string, ListedTool>>()

export const findTool = (tools: ReadonlyArray<ListedTool>, name: string): ListedTool | undefined => {
  let index = indexes.get(tools)
  if (index === undefined) indexes.set(tools, (index = new Map(tools.map((it) => [it.name, it]))))
  return index.get(name)
}
