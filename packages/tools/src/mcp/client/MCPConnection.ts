/**
 * One server as its users see it, as long as it is wanted: connected with a few attempts, reconnected when lost, its
 * tools kept current, its calls bounded. A call that may have acted is never repeated (S4-75).
 */
import type {
  CallToolResult,
  CompleteRequest,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/client"
import type { MCPConnectionError, MCPServer, ToolExecutionError, ToolTimeoutError } from "@stoa/contract"
import type { Effect } from "effect"
import type { MCPExchange, MCPRefused, MCPReply } from "./exchange/MCPExchange.ts"
import type { MCPDroppedItem } from "./tools/MCPResult.ts"
import type { MCPTool } from "./tools/MCPTool.ts"

export type MCPCallOptions = Pick<MCPExchange, "timeoutMs" | "onProgress" | "meta">

/** What is known about a live connection beyond seed 004's MCPServer. */
interface MCPConnectionDetails {
  readonly serverName: string | undefined
  readonly protocolVersion: string
  readonly era: "legacy" | "modern"
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  /** The process, if we started one. */
  readonly pid: number | undefined
  /** Tools the server lists but that cannot be offered, and why. */
  readonly dropped: ReadonlyArray<MCPDroppedItem>
}

type Read<A> = Effect.Effect<A, MCPConnectionError>

export interface MCPConnection {
  readonly name: string
  readonly server: Effect.Effect<MCPServer>
  readonly details: Read<MCPConnectionDetails>
  /** As last listed by the server; empty after it was disconnected. */
  readonly tools: Effect.Effect<ReadonlyArray<MCPTool>>
  /** Interrupting it cancels the request at the server. */
  readonly callTool: (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options?: MCPCallOptions,
  ) => Effect.Effect<CallToolResult, MCPConnectionError | ToolExecutionError | ToolTimeoutError>
  readonly resources: Read<ReadonlyArray<Resource>>
  readonly resourceTemplates: Read<ReadonlyArray<ResourceTemplateType>>
  readonly readResource: (uri: string) => Read<ReadResourceResult>
  readonly prompts: Read<ReadonlyArray<Prompt>>
  readonly getPrompt: (name: string, args?: Readonly<Record<string, string>>) => Read<GetPromptResult>
  readonly complete: (params: CompleteRequest["params"]) => Read<CompleteResult>
  /** From now on `onLog` of the ports gets this level and above. */
  readonly setLogLevel: (level: LoggingLevel) => Read<void>
  /** One request as it is, for relays. A tool call is sent once (S4-75), any other request may be repeated. */
  readonly exchange: (
    method: string,
    params: Readonly<Record<string, unknown>>,
    options?: MCPExchange,
  ) => Effect.Effect<MCPReply, MCPConnectionError | MCPRefused>
  /** Everything in a list that a client can read, page by page; and what was left out, and why. */
  readonly listAll: (method: "resources/list" | "resources/templates/list" | "prompts/list") => Effect.Effect<
    {
      readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
      readonly dropped: ReadonlyArray<MCPDroppedItem>
    },
    MCPConnectionError | MCPRefused
  >
  /**
   * From now on `onChange` of the ports reports changes of exactly these resources, as long as this connection lasts;
   * returns which are supported.
   */
  readonly watch: (uris: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, MCPConnectionError | MCPRefused>
}
