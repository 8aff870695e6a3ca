/** A tool that answers by itself (executionType `internal`): its configured output, or a fixed acknowledgement (S1-32). */
import { Effect } from "effect"
import type { Kind } from "../Kind.ts"

/** Said by a tool that has nothing else to say. */
const acknowledged = { ok: true }

export const staticKind: Kind<"static"> = {
  effects: "none",
  handler: (tool) => () => Effect.succeed(tool.execution.output === undefined ? acknowledged : tool.execution.output),
  preview: () => null,
}
