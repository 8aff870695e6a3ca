/**
 * A tool that people act on (executionType `space`). Nothing runs here; a member's client submits the result (S1-08).
 */
import { Effect } from "effect"
import { PendingResult } from "../road/Handler.ts"
import type { Kind } from "./Kind.ts"

/** People need time, but the wait is limited (S1-83). */
const usual = 10 * 60_000

export const uiKind: Kind<"ui"> = {
  effects: "none",
  handler: (tool) => () => Effect.succeed(new PendingResult("client", tool.execution.timeout ?? usual)),
  preview: () => null,
}
