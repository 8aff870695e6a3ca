/** What a look at an MCP server has found, and log lines of a server. */
import { Schema } from "effect"
import { Moment } from "../../Ids.ts"

/** One line of a server's log, or an event of its connection. */
export const MCPServerLine = Schema.Struct({ at: Moment, level: Schema.String, text: Schema.String }).annotate({
  identifier: "MCPServerLine",
})
export type MCPServerLine = typeof MCPServerLine.Type

/** A program as it would be run on the house's machine, by the user of the house. */
export const MCPServerProgram = Schema.Struct({
  command: Schema.String,
  args: Schema.Array(Schema.String),
  env: Schema.Record(Schema.String, Schema.String),
  /** Of the three: repeated as `confirm`, it says that exactly this was shown and may run. */
  digest: Schema.String,
}).annotate({ identifier: "MCPServerProgram" })
export type MCPServerProgram = typeof MCPServerProgram.Type

/** Nothing of it is stored. */
export class MCPServerLook extends Schema.Class<MCPServerLook>("MCPServerLook")({
  dryRun: Schema.Literal(true),
  name: Schema.String,
  /** `unconfirmed`: it is a program, and nothing was run. */
  status: Schema.Literals(["connected", "error", "unconfirmed"]),
  /** What would be run, if it is unconfirmed. */
  program: Schema.optionalKey(MCPServerProgram),
  version: Schema.NullOr(Schema.String),
  protocol: Schema.NullOr(Schema.String),
  /** The tools it lists, a thousand at most. */
  tools: Schema.Array(
    Schema.Struct({ name: Schema.String, description: Schema.String, definition: Schema.Json, risk: Schema.String }),
  ),
  /** Why it could not be reached, and what to check. */
  error: Schema.optionalKey(Schema.String),
  /** What failed: the program, the address, signing in, or the protocol. */
  failed: Schema.optionalKey(Schema.Literals(["program", "address", "sign-in", "protocol"])),
  log: Schema.Array(MCPServerLine),
}) {}
