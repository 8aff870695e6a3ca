/** A host: a user's process that offers functions as tools. It opens the connection over which it is sent the calls. */
import { Schema } from "effect"
import { CallState } from "./Call.ts"
import { CallId, HostId, Moment, MomentOrNull, PrincipalId, SpaceId } from "../Ids.ts"
import { JsonSchema, RiskLevel, ToolAnnotations, Visibility } from "./Tool.ts"
import { ApprovalRule, ConfiguredToolName } from "./ToolConfiguration.ts"

export const HostName = Schema.String.check(
  Schema.isPattern(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/, {
    message: "must be a name of 1 to 64 letters, digits, _ . or -, beginning with a letter or digit",
  }),
)

/** A function as its process offers it: like a configured tool, without how it runs. */
export const HostedTool = Schema.Struct({
  name: ConfiguredToolName,
  description: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10_000)),
  inputSchema: JsonSchema,
  outputSchema: Schema.optionalKey(JsonSchema),
  visibility: Schema.optionalKey(Visibility),
  riskLevel: Schema.optionalKey(RiskLevel),
  requiresApproval: Schema.optionalKey(Schema.Boolean),
  approval: Schema.optionalKey(ApprovalRule),
  annotations: Schema.optionalKey(ToolAnnotations),
  /** A call expires if it is not answered within this time. */
  timeoutMs: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 * 24 * 3_600_000 }))),
}).annotate({ identifier: "HostedTool" })
export type HostedTool = typeof HostedTool.Type

export const HostDeclaration = Schema.Struct({
  /** The complete list: a tool that is missing is withdrawn. */
  tools: Schema.Array(HostedTool).check(Schema.isMaxLength(100)),
  /** False: only its owner sees and calls them, which needs no grant. */
  shared: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "HostDeclaration" })
export type HostDeclaration = typeof HostDeclaration.Type

export class Host extends Schema.Class<Host>("Host")({
  id: HostId,
  name: Schema.String,
  owner: PrincipalId,
  shared: Schema.Boolean,
  tools: Schema.Array(Schema.String),
  connected: Schema.Boolean,
  /** When its process was last connected; null: never. */
  lastSeenAt: MomentOrNull,
  createdAt: Moment,
}) {}

/** A call as its host gets it. */
export const HostedCall = Schema.Struct({
  id: CallId,
  tool: Schema.String,
  input: Schema.Json,
  principal: PrincipalId,
  space: Schema.NullOr(SpaceId),
  createdAt: Moment,
})
export type HostedCall = typeof HostedCall.Type

/** A call that was sent has settled: the process may stop working on it. */
export const HostedEnd = Schema.Struct({ id: CallId, state: CallState })
export type HostedEnd = typeof HostedEnd.Type
