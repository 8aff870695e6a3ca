/** A tool as its server describes it, unchanged: schemas, hints and unknown fields (S4-38). */
import { JsonSchema, ToolAnnotations } from "@stoa/contract"
import { Option, Schema } from "effect"
import type { MCPDroppedItem } from "./MCPResult.ts"
import { headerFaultOf } from "../../transport/toolHeaders.ts"

/** Only what a callable tool must have. */
const Wire = Schema.Struct({
  name: Schema.NonEmptyString,
  inputSchema: JsonSchema,
})
const isSchema = Schema.is(JsonSchema)
/** Whether the parts of a schema that clients read are well-formed. */
const readable = ({ properties = {}, required = [] }: JsonSchema): boolean =>
  isSchema(properties) &&
  Object.values(properties).every((it) => typeof it === "boolean" || isSchema(it)) &&
  Array.isArray(required) &&
  required.every((it) => typeof it === "string")
const Hints = Schema.decodeUnknownOption(ToolAnnotations)
const decode = Schema.decodeUnknownOption(Wire)

export interface MCPTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  /** The complete description as received. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A page of `tools/list`, as far as it can be trusted: a list, and the next cursor. */
export const MCPToolPage = Schema.Struct({
  tools: Schema.Array(Schema.Unknown),
  nextCursor: Schema.optionalKey(Schema.String),
})

/** One malformed tool does not affect the others: it is left out, with a reason. */
export const readMCPTools = (
  raw: ReadonlyArray<unknown>,
  rules: { readonly allowed: ReadonlyArray<string> | undefined; readonly headers: boolean; readonly most: number },
): { readonly tools: ReadonlyArray<MCPTool>; readonly dropped: ReadonlyArray<MCPDroppedItem> } => {
  const tools = new Map<string, MCPTool>()
  const dropped: Array<MCPDroppedItem> = []
  const drop = (name: string, why: string) => void dropped.push({ what: "tool", name, why })
  for (const [at, one] of raw.entries()) {
    const wire = decode(one)
    if (Option.isNone(wire)) {
      drop(`number ${at + 1}`, "it has no name or no input schema")
      continue
    }
    const { inputSchema, name } = wire.value
    if (rules.allowed !== undefined && !rules.allowed.includes(name)) continue
    const fault = !readable(inputSchema)
      ? "its input schema is none"
      : rules.headers
        ? headerFaultOf(inputSchema)
        : undefined
    if (fault !== undefined) drop(name, fault)
    else if (tools.has(name)) drop(name, "listed twice; the first one counts")
    else if (tools.size >= rules.most) drop(name, `more than ${rules.most} tools of one server`)
    else {
      const source = one as Readonly<Record<string, unknown>>
      const { description, outputSchema, title } = source
      const annotations = Option.getOrUndefined(Hints(source["annotations"]))
      tools.set(name, {
        name,
        // A malformed optional part counts as absent.
        description: typeof description === "string" ? description : "",
        // The decoded copies are equal but new objects; comparing or signing a schema needs the original.
        inputSchema: source["inputSchema"] as typeof inputSchema,
        ...(typeof title === "string" ? { title } : {}),
        ...(isSchema(outputSchema) && readable(outputSchema) ? { outputSchema } : {}),
        ...(annotations === undefined ? {} : { annotations }),
        raw: source,
      })
    }
  }
  return { tools: [...tools.values()], dropped }
}
