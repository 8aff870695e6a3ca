/** A sub-agent (S1-27): nothing runs here; the call waits for a run, which the room above makes when it reads of it. */
import { Effect } from "effect"
import { PendingResult } from "../road/Handler.ts"
import type { Kind } from "./Kind.ts"

const usual = 60_000

export const agentKind: Kind<"agent"> = {
  effects: "none",
  handler: (tool) => () => Effect.succeed(new PendingResult("run", tool.execution.timeout ?? usual)),
  preview: () => null,
}
