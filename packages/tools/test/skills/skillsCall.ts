/** A call as a handler sees it, for suites that call handlers directly. */
import { Effect } from "effect"
import type { CallContext } from "../../src/Handler.ts"

export const call: CallContext = {
  id: "call-1",
  principal: "agent-1",
  space: "session-1",
  correlationId: "correlation-1",
  idempotencyKey: "key-1",
  progress: () => Effect.void,
}
