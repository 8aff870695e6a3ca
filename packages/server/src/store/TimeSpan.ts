/** Splits a span of time into points. Pure. */
import { DateTime } from "effect"

/** Milliseconds. The last point ends at `to`, even if that makes it shorter. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
  readonly step: number
}

export const pointsOf = ({ from, step, to }: TimeSpan): number => Math.max(1, Math.ceil((to - from) / step))

export const zeros = (span: TimeSpan): Array<number> => Array.from({ length: pointsOf(span) }, () => 0)

/** Undefined: outside the span. */
export const pointAt = (span: TimeSpan, at: string): number | undefined => {
  const millis = Date.parse(at)
  return millis < span.from || millis > span.to
    ? undefined
    : Math.min(pointsOf(span) - 1, Math.floor((millis - span.from) / span.step))
}

/** The nearest-rank quantile of the numbers, which may be in any order; null if there are none. */
export const quantile = (of: ReadonlyArray<number>, part: number): number | null => {
  if (of.length === 0) return null
  const sorted = of.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!
}

/** In the format of the database. */
export const momentOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
