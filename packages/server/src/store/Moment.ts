/** Timestamps as text. Many things happen in one millisecond, so its text is made once. */
import { DateTime } from "effect"

let last = Number.NaN
let text = ""

export const isoMoment = (milliseconds: number): string => {
  if (milliseconds !== last) {
    text = DateTime.formatIso(DateTime.makeUnsafe(milliseconds))
    last = milliseconds
  }
  return text
}

/** Of rows that are over before `term`, those of the oldest day: the moment before which they are removed. */
export const withinADay = (oldest: string | null | undefined, term: string): string => {
  if (oldest === null || oldest === undefined) return term
  const aDayOn = DateTime.formatIso(DateTime.add(DateTime.makeUnsafe(oldest), { days: 1 }))
  return aDayOn < term ? aDayOn : term
}
