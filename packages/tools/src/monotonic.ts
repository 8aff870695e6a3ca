/** A monotonic clock in milliseconds, for durations: the wall clock may be set while we count. */
import { Clock, Effect } from "effect"

export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
)
