/** Which tools of a set a context may see and call: one list, applied at listing and again at calling (S2-05). */
import { Schema } from "effect"
import { MomentOrNull, PrincipalId } from "../../Ids.ts"
import { Source } from "../identity/Principal.ts"
import { ListedSet } from "../../tools/Toolset.ts"

/** How far a caller is trusted. It comes only from the credential (S2-06). */
export const AccessContext = Schema.Literals(["agent", "crossroads", "internal"])
export type AccessContext = typeof AccessContext.Type

export const ToolName = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))

export class AllowList extends Schema.Class<AllowList>("AllowList")({
  toolset: ListedSet,
  context: AccessContext,
  tools: Schema.Array(Schema.String),
  /** Listed names that do not exist at the moment: an MCP server may be disconnected. */
  unknown: Schema.Array(Schema.String),
  source: Schema.Literals(["default", ...Source.literals]),
  changedAt: MomentOrNull,
  changedBy: Schema.NullOr(PrincipalId),
}) {}

export const AllowListChange = Schema.Struct({
  tools: Schema.Array(ToolName).check(Schema.isMaxLength(1000)),
}).annotate({ identifier: "AllowListChange" })
export type AllowListChange = typeof AllowListChange.Type
