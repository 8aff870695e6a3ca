/**
 * How near texts are in meaning. A vector is stored as one signed byte per number, the same bytes on both databases,
 * and is combined with those of its neighbours, like words. Pure: the same rows give the same order, to the last bit.
 */

export interface VectorRow {
  readonly seq: number
  readonly ref: string
  readonly scope: number
  readonly series: string | null
  readonly place: number
  readonly v: Uint8Array
}

export interface Near {
  readonly row: VectorRow
  /** The cosine of the angle between the two: 1 is the same, 0 nothing in common. */
  readonly likeness: number
}

/** The weight of a neighbour at each distance. */
const weights = [
  [-2, 0.2],
  [-1, 0.4],
  [0, 1],
  [1, 0.4],
  [2, 0.2],
] as const

export const bytesOf = (vector: ReadonlyArray<number>): Uint8Array => {
  const largest = vector.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
  return new Uint8Array(Int8Array.from(vector, (one) => Math.round((one * 127) / largest)).buffer)
}

const signed = (bytes: Uint8Array): Int8Array => new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const lengthOf = (vector: ArrayLike<number>): number => {
  let sum = 0
  for (let at = 0; at < vector.length; at++) sum += vector[at]! * vector[at]!
  return Math.sqrt(sum)
}

const keyOf = (scope: number, series: string, place: number): string => `${scope} ${place} ${series}`

/**
 * Nearest first, then newest, without negative likeness. `only`: the rows to return; the others only count as
 * neighbours.
 */
export const nearestOf = (
  rows: ReadonlyArray<VectorRow>,
  asked: ReadonlyArray<number>,
  only: (row: VectorRow) => boolean = () => true,
): ReadonlyArray<Near> => {
  const own = rows.flatMap((row) => {
    if (row.v.length !== asked.length) return []
    const vector = signed(row.v)
    return [{ row, vector, length: lengthOf(vector) }]
  })
  const byPlace = new Map(
    own.flatMap((one) =>
      one.row.series === null ? [] : [[keyOf(one.row.scope, one.row.series, one.row.place), one] as const],
    ),
  )
  const askedLength = lengthOf(asked)
  const sum = new Float64Array(asked.length)
  const near = own.flatMap((one): ReadonlyArray<Near> => {
    if (!only(one.row) || one.length === 0) return []
    const { place, scope, series } = one.row
    sum.fill(0)
    for (const [away, weight] of weights) {
      const other = away === 0 ? one : series === null ? undefined : byPlace.get(keyOf(scope, series, place + away))
      if (other === undefined || other.length === 0) continue
      const share = weight / other.length
      for (let at = 0; at < sum.length; at++) sum[at]! += other.vector[at]! * share
    }
    let dot = 0
    for (let at = 0; at < sum.length; at++) dot += sum[at]! * asked[at]!
    const likeness = dot / (lengthOf(sum) * askedLength)
    return likeness > 0 ? [{ row: one.row, likeness }] : []
  })
  return near.toSorted((one, other) => other.likeness - one.likeness || other.row.seq - one.row.seq)
}

/** How many of each list are merged; the other texts found by words follow. */
export const merged = 100
const first = 10
const meaningWeight = 0.5

/** By reciprocal rank: words lead, meaning helps. Ties keep the order by words, then by meaning. */
export const mergedOrder = (
  byWords: ReadonlyArray<string>,
  byMeaning: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const score = new Map<string, number>()
  for (const [at, ref] of byWords.slice(0, merged).entries()) score.set(ref, 1 / (first + at + 1))
  for (const [at, ref] of byMeaning.slice(0, merged).entries())
    score.set(ref, (score.get(ref) ?? 0) + meaningWeight / (first + at + 1))
  const best = [...score].toSorted(([, one], [, other]) => other - one).map(([ref]) => ref)
  return [...best, ...byWords.slice(merged).filter((ref) => !score.has(ref))]
}
