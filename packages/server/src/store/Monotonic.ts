/**
 * How long things take: milliseconds that only go forward. The wall clock may be set back or ahead at any time; it is for
 * moments that are stored, shown or agreed with others, and never for a duration in this process.
 */
import { Clock, Effect } from "effect"

export const monotonicOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicOf)
