/** A call as a handler sees it, for suites that call handlers directly. */
import { Effect } from "effect"
import type { CallContext } from "../src/Handler.ts"

export const call: CallContext = {
  callId: "call-1",
  agentId: "agent-1",
  sessionId: "session-1",
  correlationId: "correlation-1",
  idempotencyKey: "key-1",
  progress: () => Effect.void,
}
