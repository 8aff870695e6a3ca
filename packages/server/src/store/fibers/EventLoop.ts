/** Yields one turn of the event loop, so that sockets are read and other fibers run. For work in many small pieces. */
// edge: setImmediate is the turn.
import { Effect } from "effect"

export const yieldToEventLoop: Effect.Effect<void> = Effect.callback(
  (resume) => void setImmediate(() => resume(Effect.void)),
)
