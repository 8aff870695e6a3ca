/**
 * Timestamps and durations. The wall clock can be set at any time: it is for timestamps that are stored, shown or agreed
 * with others. A duration in this process is in milliseconds that only go forward.
 */
import { DateTime, Clock, Effect } from "effect"

let last = Number.NaN
let text = ""

export const isoMoment = (milliseconds: number): string => {
  if (milliseconds !== last) {
    text = DateTime.formatIso(DateTime.makeUnsafe(milliseconds))
    last = milliseconds
  }
  return text
}

/**
 * Limits removal to the oldest day: returns one day after `oldest`, but not later than `term`. Rows before it are
 * removed.
 */
export const withinADay = (oldest: string | null | undefined, term: string): string => {
  if (oldest === null || oldest === undefined) return term
  const aDayOn = DateTime.formatIso(DateTime.add(DateTime.makeUnsafe(oldest), { days: 1 }))
  return aDayOn < term ? aDayOn : term
}

export const monotonicOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.Clock, monotonicOf)
