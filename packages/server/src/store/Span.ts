/** Points over a span of time, and in which of them a moment lies. Pure. */
import { DateTime } from "effect"

/** Milliseconds. The last point ends at `to`, however short that makes it. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly step: number
}

export const pointsOf = ({ from, step, to }: Span): number => Math.max(1, Math.ceil((to - from) / step))

export const zeros = (span: Span): Array<number> => Array.from({ length: pointsOf(span) }, () => 0)

/** Undefined: outside the span. */
export const pointAt = (span: Span, at: string): number | undefined => {
  const millis = Date.parse(at)
  return millis < span.from || millis > span.to
    ? undefined
    : Math.min(pointsOf(span) - 1, Math.floor((millis - span.from) / span.step))
}

/** Of the numbers, in any order, the smallest that so large a part of them does not exceed; null: there are none. */
export const quantile = (of: ReadonlyArray<number>, part: number): number | null => {
  if (of.length === 0) return null
  const sorted = of.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!
}

/** As stored. */
export const momentOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
