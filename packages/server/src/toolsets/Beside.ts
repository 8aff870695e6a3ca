/**
 * What a toolset has beside its tools: resources, prompts and completion, for whoever calls, in MCP's own shape. Like a tool
 * that speaks MCP it may ask the client first, by returning `Asked`, and is told who asks (upstreams/Asked.ts).
 */
import type { Caller } from "@stoa/contract"
import type { MCPRefused } from "@stoa/tools"
import type { Effect } from "effect"
import type { Asked, McpAsker } from "../upstreams/Asked.ts"

export type JsonObject = Readonly<Record<string, unknown>>
type List = Effect.Effect<ReadonlyArray<JsonObject>, never, Caller>
/** Undefined: there is no such thing of this toolset's for this caller. */
type Answer<A> = Effect.Effect<A | undefined, MCPRefused, Caller>

export interface Beside {
  /** Said to clients that come to this toolset alone. */
  readonly instructions?: string
  /** Whether its tools have anything to log. */
  readonly logs?: boolean
  readonly resources?: {
    readonly list: List
    readonly templates?: List
    readonly read: (uri: string, asker: McpAsker) => Answer<JsonObject | Asked>
    /** Tells of changes of these, until it is stopped; `honoured` are those of them that it will tell of. */
    readonly watch: (
      uris: ReadonlyArray<string>,
      tell: (uri: string) => void,
    ) => Effect.Effect<{ readonly honoured: ReadonlyArray<string>; readonly stop: () => void }, never, Caller>
  }
  readonly prompts?: {
    readonly list: List
    readonly get: (name: string, given: JsonObject, asker: McpAsker) => Answer<JsonObject | Asked>
  }
  /** The params and the result of `completion/complete`. */
  readonly complete?: (params: JsonObject) => Answer<JsonObject>
  /** Told when one of the lists has changed, until it is stopped. */
  readonly onChange?: (hear: (what: "prompts" | "resources") => void) => () => void
}
