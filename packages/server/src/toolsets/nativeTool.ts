/**
 * A tool of a toolset that speaks MCP: it returns MCP content, such as an image, and may ask its calling client and
 * notify it, in the same way as servers' tools do (servers/InputRequired.ts).
 */
import { Caller, type ToolAnnotations, ToolExecutionError } from "@stoa/contract"
import { MCPRefused, mcpToolResult } from "@stoa/tools"
import { Effect } from "effect"
import type { HandlerCall } from "../calls/road/Handler.ts"
import { withMCPNotes } from "../calls/road/MCPNotes.ts"
import type { Traits } from "../calls/catalogue/Traits.ts"
import { InputRequired, lackingFor } from "../servers/InputRequired.ts"
import type { JsonObject } from "../servers/contents/Contents.ts"
import { builtIn, type CatalogueOffer } from "./toolsetTool.ts"

export interface NativeTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: ToolAnnotations
  readonly timeoutMs?: number
  /** Only a tool that is recorded first, `outside`, can ask its client or continue without it. */
  readonly effects: Exclude<Traits["effects"], "store">
  /** Fails with what MCP answers instead of a result; a result with `isError` is a failure in the tool's words. */
  readonly run: (args: JsonObject, call: HandlerCall) => Effect.Effect<JsonObject | InputRequired, MCPRefused, Caller>
}

/** Refuses a client that has not declared these capabilities. */
export const lacks = (capabilities: JsonObject): MCPRefused =>
  new MCPRefused(-32_021, "The client has not declared a capability that this needs", {
    requiredCapabilities: capabilities,
  })

export const nativeTool = (tool: NativeTool): CatalogueOffer => {
  const { annotations, description, effects, inputSchema, name, outputSchema, run, timeoutMs } = tool
  const refused = ({ code, data, message }: MCPRefused) => {
    const cause = { code, message, ...(data === undefined ? {} : { data }) }
    return new ToolExecutionError({ message, toolName: name, cause })
  }

  const handler = Effect.fnUntraced(function* (args: JsonObject, call: HandlerCall) {
    const said = yield* Effect.mapError(Effect.provideService(run(args, call), Caller, call.caller), refused)
    if (said instanceof InputRequired) {
      const lacking = lackingFor(said.questions, call.client)
      return lacking === undefined ? said : yield* refused(lacks(lacking))
    }
    return yield* mcpToolResult({ tool: name, listed: tool, arguments: args }, { _tag: "Done", result: said })
  })

  return {
    tool: withMCPNotes({
      definition: builtIn({
        name,
        description,
        inputSchema,
        effects,
        timeoutMs,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        ...(annotations === undefined ? {} : { annotations }),
      }),
      checksOutput: true,
      handler,
    }),
    traits: { effects, resultFormat: "mcp", reviewed: true },
  }
}
