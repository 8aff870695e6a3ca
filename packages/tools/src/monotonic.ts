/** How long things take: milliseconds that only go forward. The wall clock may be set back or ahead while we count. */
import { Clock, Effect } from "effect"

export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
)
