/** Live signals of the feed. */
import { Schema } from "effect"
import { Moment, PrincipalId } from "./Ids.ts"

/** A live signal that is shown and not stored: it has no cursor and is not replayed. */
export const Delta = Schema.Struct({
  /**
   * Somebody is typing; a call's input; a line of an MCP server's log, for admins; a run's model output (text,
   * reasoning, and the calls that it writes and has not made yet), and that it is requested again.
   */
  kind: Schema.Literals([
    "typing",
    "call.input",
    "server.log",
    "run.text",
    "run.reasoning",
    "run.call",
    "run.restarted",
  ]),
  at: Moment,
  space: Schema.NullOr(Schema.String),
  actor: Schema.NullOr(PrincipalId),
  body: Schema.Json,
})
export type Delta = typeof Delta.Type
