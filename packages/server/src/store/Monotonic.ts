/**
 * Durations: milliseconds that only go forward. The wall clock can be set at any time; it is for timestamps that are
 * stored, shown or agreed with others, never for a duration in this process.
 */
import { Clock, Effect } from "effect"

export const monotonicOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicOf)
