/**
 * What an MCP connection needs from its user, each with a safe default: nobody is notified, questions to people and
 * models are refused because the capability is not declared, there are no roots, and nothing is remembered beyond the
 * process.
 */
import type {
  ElicitRequest,
  ElicitResult,
  FetchLike,
  OAuthClientProvider,
  CreateMessageRequest,
  CreateMessageResult,
  CreateMessageResultWithTools,
  LoggingMessageNotificationParams,
  Root,
} from "@modelcontextprotocol/client"
import type { JsonSchema, MCPServer } from "@stoa/contract"
import { Context, Effect } from "effect"
import { faultText } from "../../schema/faults.ts"
import { checkAgainst, measureSchema } from "../../schema/validateSchema.ts"
import type { Redactor } from "../../secrets/Redactor.ts"
import { type EraMemory, eraMemory } from "./eras.ts"
import type { MCPServerConfig } from "../MCPServerConfig.ts"
import type { MCPTool } from "../client/tools/MCPTool.ts"

export type MCPEvent =
  | {
      readonly type: "tools.mcp-connected"
      readonly payload: { readonly serverName: string; readonly tools: ReadonlyArray<string> }
    }
  | { readonly type: "tools.mcp-disconnected"; readonly payload: { readonly serverName: string } }

/** OAuth for one server. The provider stores its secrets; `callback` waits for the browser to come back. */
export interface MCPAuthorization {
  readonly provider: OAuthClientProvider
  /** The query of the redirect. Absent: a server that requires a person's consent cannot be connected. */
  readonly callback?: Effect.Effect<URLSearchParams, unknown>
}

export interface MCPPorts {
  /**
   * Connected and disconnected, once each (S4-62, S4-39). Losing and regaining a connection is reported by `onStatus`.
   */
  readonly onEvent: (event: MCPEvent) => Effect.Effect<void>
  readonly onStatus: (server: MCPServer) => Effect.Effect<void>
  /** The server has other tools now: after list_changed, or after a reconnect. The list is complete. */
  readonly onTools: (serverName: string, tools: ReadonlyArray<MCPTool>) => Effect.Effect<void>
  /** Its list of resources or prompts has changed, or one resource has new contents. */
  readonly onChange: (
    serverName: string,
    change: { readonly what: "resources" | "prompts" | "resource"; readonly uri?: string },
  ) => Effect.Effect<void>
  readonly onLog: (serverName: string, message: LoggingMessageNotificationParams) => Effect.Effect<void>
  /** Says what is wrong with a result, if it does not match the tool's output schema. */
  readonly validate: (tool: string, schema: JsonSchema, value: unknown) => Effect.Effect<string | undefined>
  /** Questions of servers go to the requester (`line` of an exchange), not to the three below. */
  readonly relays?: boolean
  readonly elicit?: (serverName: string, request: ElicitRequest["params"]) => Effect.Effect<ElicitResult>
  readonly sample?: (
    serverName: string,
    request: CreateMessageRequest["params"],
  ) => Effect.Effect<CreateMessageResult | CreateMessageResultWithTools>
  readonly roots?: (serverName: string) => Effect.Effect<ReadonlyArray<Root>>
  readonly authorize: (config: MCPServerConfig) => MCPAuthorization | undefined
  /** Every HTTP request to a server goes through it: the place for a policy about allowed addresses. */
  readonly fetch: FetchLike
  readonly eras: EraMemory
  /** Removes the secrets that the server was sent from everything it says, before anybody else gets it. */
  readonly redactor?: Redactor
}

/** The schema is the server's and unreviewed. */
const validate: MCPPorts["validate"] = (tool, schema, value) =>
  measureSchema(tool, "outputSchema", schema).pipe(
    Effect.flatMap((schema) => checkAgainst(schema, value, { by: tool, reviewed: false })),
    Effect.map((fault) =>
      fault === undefined ? undefined : `${fault.path === "" ? "it" : `"${fault.path}"`} ${faultText(fault)}`,
    ),
    Effect.catch((refused) => Effect.succeed(refused.message)),
  )

export const defaultMCPPorts = (): MCPPorts => ({
  onEvent: () => Effect.void,
  onStatus: () => Effect.void,
  onTools: () => Effect.void,
  onChange: () => Effect.void,
  onLog: () => Effect.void,
  validate,
  authorize: () => undefined,
  fetch: (url, init) => globalThis.fetch(url, init),
  eras: eraMemory(),
})

export const MCPPorts = Context.Reference<MCPPorts>("tools/mcp/MCPPorts", { defaultValue: defaultMCPPorts })
