/**
 * The place of a row in its series. Rows arrive nearly in order; several writers at once cause small disorder, and the
 * numbers in their names give the order. Pure.
 */

export interface SeriesRow {
  readonly place: number
  readonly tail: string | null
}

/** `push`: the rows from this place on must move. */
export interface Insertion {
  readonly place: number
  readonly push: boolean
}

const parts = (tail: string): { readonly words: string; readonly numbers: ReadonlyArray<string> } => {
  const numbers = tail.match(/\d+/g) ?? []
  return { words: tail.replace(/\d+/g, "0"), numbers: numbers.map((run) => run.replace(/^0+(?=\d)/, "")) }
}

/**
 * Only names that differ in nothing but their numbers have an order: `012` is before `013`, `zebra` is not behind
 * `apple`.
 */
export const isBefore = (tail: string | null, other: string | null): boolean => {
  if (tail === null || other === null) return false
  const [mine, theirs] = [parts(tail), parts(other)]
  if (mine.words !== theirs.words) return false
  for (const [at, number] of mine.numbers.entries()) {
    const their = theirs.numbers[at]!
    if (number !== their) return number.length === their.length ? number < their : number.length < their.length
  }
  return false
}

/** `last`: the rows at the end of the series, last row first. `first`: the row at its beginning. */
export const placeAmong = (
  last: ReadonlyArray<SeriesRow>,
  first: SeriesRow | undefined,
  tail: string | null,
): Insertion => {
  const end = last[0]
  if (end === undefined || first === undefined) return { place: 0, push: false }
  const at = last.findIndex((row) => !isBefore(tail, row.tail))
  if (at === 0) return { place: end.place + 1, push: false }
  if (at > 0) {
    const place = last[at]!.place + 1
    return { place, push: last[at - 1]!.place === place }
  }
  // Far from the end no rows move: it goes to the beginning if it belongs before it, otherwise to the end.
  return isBefore(tail, first.tail) ? { place: first.place - 1, push: false } : { place: end.place + 1, push: false }
}
