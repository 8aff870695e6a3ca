/** A tool of an MCP server as it was first seen or last accepted, and its present definition if that differs. */
import { Schema } from "effect"
import { MomentOrNull } from "../../Ids.ts"

export class MCPServerTool extends Schema.Class<MCPServerTool>("MCPServerTool")({
  name: Schema.String,
  /** `left-out`: it cannot be offered as it is; `why` gives the reason. */
  state: Schema.Literals(["active", "held", "left-out"]),
  why: Schema.optionalKey(Schema.String),
  /** Null, with an empty digest: its definition was not even accepted. */
  definition: Schema.Json,
  digest: Schema.String,
  /** The definition that waits for review; null: none does. */
  held: Schema.NullOr(Schema.Struct({ definition: Schema.Json, digest: Schema.String })),
  /** Null: it was never accepted. */
  firstSeenAt: MomentOrNull,
}) {}

/**
 * The server of a tool, from the tool's name: only names of servers' tools have a slash. A call keeps no more of its tool
 * than the name, and its server may be gone.
 */
export const serverOfTool = (name: string): string | undefined => {
  const slash = name.indexOf("/")
  return slash > 0 ? name.slice(0, slash) : undefined
}
