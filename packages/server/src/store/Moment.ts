/** A moment as it is written down. Many things happen in one millisecond: its text is made once. */
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
