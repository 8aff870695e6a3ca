/** An MCP server as it stands. Header and variable values are not in it: they go in and never come out. */
import { Schema } from "effect"
import { Moment, PrincipalId } from "../Ids.ts"
import { ToolReview } from "./MCPServerSpec.ts"
import { Source } from "../access/Principal.ts"
import { MCPTransport } from "./Tool.ts"

const Names = Schema.Array(Schema.String)

export class MCPServerState extends Schema.Class<MCPServerState>("MCPServerState")({
  id: Schema.String,
  name: Schema.String,
  status: Schema.Literals(["connected", "disconnected", "error"]),
  /** What it says of itself, when it was last connected. */
  version: Schema.NullOr(Schema.String),
  protocol: Schema.NullOr(Schema.String),
  /** Its tools that may be called, under its own names. */
  tools: Names,
  /** Changed since they were first seen: not listed and not callable until somebody accepts them. */
  held: Names,
  /** In `allowedTools`, but not among its tools. */
  missing: Names,
  /** What it lists that cannot be offered, and why: the first of it. */
  leftOut: Schema.Array(
    Schema.Struct({
      what: Schema.Literals(["tool", "resource", "resource template", "prompt"]),
      name: Schema.String,
      why: Schema.String,
    }),
  ),
  /** Why it is not connected. */
  error: Schema.optionalKey(Schema.String),
  transport: MCPTransport,
  /** The program, or the address without its query. */
  command: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String),
  allowedTools: Names,
  review: ToolReview,
  /** How long a call may go on without a sign of life. */
  timeoutSeconds: Schema.Int,
  /** The agent whose own server it is; null: the house's. */
  owner: Schema.NullOr(PrincipalId),
  source: Source,
  createdAt: Moment,
}) {}
