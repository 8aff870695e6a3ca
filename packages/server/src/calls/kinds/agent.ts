/**
 * A sub-agent (S1-27): nothing runs here. The call waits for a run, which the room above creates when it reads the
 * event.
 */
import { Effect } from "effect"
import { PendingResult } from "../road/Handler.ts"
import type { Configured, Kind } from "./Kind.ts"

const usual = 60_000

/** The agent that it works as, if it names one; otherwise its caller. */
export const namedAgent = ({ execution: { agentConfig } }: Configured<"agent">): string | undefined =>
  typeof agentConfig["agent"] === "string" && agentConfig["agent"] !== "" ? agentConfig["agent"] : undefined

export const agentKind: Kind<"agent"> = {
  effects: "none",
  handler: (tool) => () => Effect.succeed(new PendingResult("run", tool.execution.timeout ?? usual)),
  preview: () => null,
}
