/** The present state of an MCP server. Without header and variable values: they can be set but never read. */
import { Schema } from "effect"
import { Moment, PrincipalId } from "../../Ids.ts"
import { ToolReview } from "./MCPServerSpec.ts"
import { Source } from "../../access/identity/Principal.ts"
import { MCPTransport } from "../Tool.ts"

const Names = Schema.Array(Schema.String)

export class MCPServerState extends Schema.Class<MCPServerState>("MCPServerState")({
  id: Schema.String,
  name: Schema.String,
  status: Schema.Literals(["connected", "disconnected", "error"]),
  /** What it said about itself when it was last connected. */
  version: Schema.NullOr(Schema.String),
  protocol: Schema.NullOr(Schema.String),
  /** Its tools that may be called, under its own names. */
  tools: Names,
  /** Changed since they were first seen: not listed and not callable until somebody accepts them. */
  held: Names,
  /** In `allowedTools`, but not among its tools. */
  missing: Names,
  /** Listed things that cannot be offered, and why: the first of them. */
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
  /** How long a call may run without a sign of life. */
  timeoutSeconds: Schema.Int,
  /** The agent that owns it; null: the house does. */
  owner: Schema.NullOr(PrincipalId),
  source: Source,
  createdAt: Moment,
}) {}
