/** A tool of an MCP server as it was first seen or last accepted, and what it says now where that is something else. */
import { Schema } from "effect"
import { Moment } from "./Ids.ts"

export class MCPServerTool extends Schema.Class<MCPServerTool>("MCPServerTool")({
  name: Schema.String,
  state: Schema.Literals(["active", "held"]),
  definition: Schema.Json,
  digest: Schema.String,
  /** What waits for review; null: nothing does. */
  held: Schema.NullOr(Schema.Struct({ definition: Schema.Json, digest: Schema.String })),
  firstSeenAt: Moment,
}) {}
