/** A tool of an MCP server as it was first seen or last accepted, and what it says now where that is something else. */
import { Schema } from "effect"
import { MomentOrNull } from "../Ids.ts"

export class MCPServerTool extends Schema.Class<MCPServerTool>("MCPServerTool")({
  name: Schema.String,
  /** `left-out`: it cannot be offered as it is; `why` says what is in the way. */
  state: Schema.Literals(["active", "held", "left-out"]),
  why: Schema.optionalKey(Schema.String),
  /** Null, and the digest empty: what it says was not even taken. */
  definition: Schema.Json,
  digest: Schema.String,
  /** What waits for review; null: nothing does. */
  held: Schema.NullOr(Schema.Struct({ definition: Schema.Json, digest: Schema.String })),
  /** Null: it was never taken. */
  firstSeenAt: MomentOrNull,
}) {}
