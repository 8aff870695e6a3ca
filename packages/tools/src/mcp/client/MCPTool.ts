/** A tool as its server describes it, kept as it came: schemas, hints and what we do not know yet (S4-38). */
import { JsonSchema, ToolAnnotations } from "@stoa/contract"
import { Option, Schema } from "effect"
import type { MCPLeftOut } from "./MCPResult.ts"
import { headerFaultOf } from "../transport/toolHeaders.ts"

/** Only what must hold for a tool to be callable at all. */
const Wire = Schema.Struct({
  name: Schema.NonEmptyString,
  inputSchema: JsonSchema,
})
const isSchema = Schema.is(JsonSchema)
/** What clients read of a schema before they use it. */
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
  /** The whole description as it came off the wire. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A page of `tools/list`, as far as it can be trusted: a list, and where the next one begins. */
export const MCPToolPage = Schema.Struct({
  tools: Schema.Array(Schema.Unknown),
  nextCursor: Schema.optionalKey(Schema.String),
})

/** One ill-formed tool does not take the others with it: it is left out, and why is said. */
export const readMCPTools = (
  raw: ReadonlyArray<unknown>,
  rules: { readonly allowed: ReadonlyArray<string> | undefined; readonly headers: boolean; readonly most: number },
): { readonly tools: ReadonlyArray<MCPTool>; readonly dropped: ReadonlyArray<MCPLeftOut> } => {
  const tools = new Map<string, MCPTool>()
  const dropped: Array<MCPLeftOut> = []
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
        // What is malformed and not needed is as if it were not there.
        description: typeof description === "string" ? description : "",
        // The decoded copies are equal but new; whoever compares or signs a schema wants the one that came.
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
