/**
 * A tool of a toolset that speaks MCP: it answers in MCP's own words, such as with an image, and may ask the client that
 * calls it and tell it things, all in the way servers' tools do (upstreams/Asked.ts).
 */
import { type Caller, type ToolAnnotations, ToolExecutionError } from "@stoa/contract"
import { type CallContext, MCPRefused, mcpToolResult } from "@stoa/tools"
import { Effect } from "effect"
import { keepingSaid } from "../calls/road/Said.ts"
import type { Traits } from "../calls/catalogue/Traits.ts"
import { Asked, CallingClient, lackingFor } from "../upstreams/Asked.ts"

import type { JsonObject } from "./Beside.ts"
import { builtIn, type Offered } from "./face.ts"

export interface SpeakingTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: ToolAnnotations
  readonly timeoutMs?: number
  /** Only what is recorded first, `outside`, can ask its client or go on without it. */
  readonly effects: Exclude<Traits["effects"], "store">
  /** Fails with what MCP answers instead of a result; a result with `isError` is a failure in the tool's words. */
  readonly run: (args: JsonObject, context: CallContext) => Effect.Effect<JsonObject | Asked, MCPRefused, Caller>
}

/** Refuses a client that has not declared these capabilities. */
export const lacks = (capabilities: JsonObject): MCPRefused =>
  new MCPRefused(-32_021, "The client has not declared a capability that this needs", {
    requiredCapabilities: capabilities,
  })

export const speaking = (tool: SpeakingTool): Offered => {
  const { annotations, description, effects, inputSchema, name, outputSchema, run, timeoutMs } = tool
  const refused = ({ code, data, message }: MCPRefused) => {
    const cause = { code, message, ...(data === undefined ? {} : { data }) }
    return new ToolExecutionError({ message, toolName: name, cause })
  }

  const handler = Effect.fnUntraced(function* (args: JsonObject, context: CallContext) {
    const said = yield* Effect.mapError(run(args, context), refused)
    if (said instanceof Asked) {
      const lacking = lackingFor(said.questions, yield* CallingClient)
      return lacking === undefined ? said : yield* refused(lacks(lacking))
    }
    return yield* mcpToolResult({ toolName: name, tool, arguments: args }, { _tag: "Done", result: said })
  })

  return {
    tool: keepingSaid({
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
      // The road provides who calls; its type does not know of it.
      handler: handler as (...given: Parameters<typeof handler>) => Effect.Effect<unknown, ToolExecutionError>,
    }),
    traits: { effects, speaks: "mcp", reviewed: true },
  }
}
