/**
 * How well a row answers a question: BM25 over counts that also listen to the rows around it, and a word in its label
 * counts apart. Computed here from our own statistics, so that SQLite and Postgres give the same order. Pure.
 */

export interface Row {
  readonly seq: number
  readonly ref: string
  readonly scope: number
  readonly series: string | null
  readonly place: number
  readonly len: number
  /** Separated by blanks, as stored. */
  readonly labels: string
  readonly terms: string
}

/** An asked term. `weight` is below 1 for a word that was probably meant instead of the one that was written. */
export interface Asked {
  readonly term: string
  readonly n: number
  readonly weight: number
}

export interface Sizes {
  readonly rows: number
  readonly len: number
}

export interface Scored {
  readonly row: Row
  readonly score: number
  /** Asked terms by where they were found, the largest share first. */
  readonly words: ReadonlyArray<string>
  readonly near: ReadonlyArray<string>
  readonly label: ReadonlyArray<string>
}

const k1 = 0.9
const b = 0.15
const beside = 0.4
const twoAway = 0.2
const inSeries = 0.2
const leastLabel = 3

const idfOf = ({ n, weight }: Asked, rows: number): number =>
  weight * Math.log(1 + (Math.max(rows, n) - n + 0.5) / (n + 0.5))

/** Rarest first, ties by the term: both databases add in the same order, to the last bit. */
export const rarestFirst = (one: Asked, other: Asked): number =>
  one.n - other.n || (one.term < other.term ? -1 : one.term > other.term ? 1 : 0)

interface Counted {
  readonly row: Row
  readonly tf: ReadonlyArray<number>
  readonly labelled: ReadonlyArray<boolean>
}

const count = (row: Row, places: ReadonlyMap<string, number>): Counted => {
  const tf = Array.from({ length: places.size }, () => 0)
  for (const term of row.terms.split(" ")) {
    const at = places.get(term)
    if (at !== undefined) tf[at]!++
  }
  const labelled = Array.from({ length: places.size }, () => false)
  for (const term of row.labels.split(" ")) {
    const at = places.get(term)
    if (at !== undefined) labelled[at] = true
  }
  return { row, tf, labelled }
}

const keyOf = (scope: number, series: string, place: number): string => `${scope} ${place} ${series}`

const largestFirst = (shares: ReadonlyArray<readonly [term: string, share: number]>): ReadonlyArray<string> =>
  shares.toSorted((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).map(([term]) => term)

/** Best first, then newest. `asked` is given rarest first. Rows that share nothing with the question are left out. */
export const score = (rows: ReadonlyArray<Row>, asked: ReadonlyArray<Asked>, sizes: Sizes): ReadonlyArray<Scored> => {
  const places = new Map(asked.map(({ term }, at) => [term, at]))
  const counted = rows.map((row) => count(row, places))
  const byPlace = new Map<string, Counted>()
  const series = new Map<string, Array<number>>()
  for (const one of counted) {
    if (one.row.series === null) continue
    byPlace.set(keyOf(one.row.scope, one.row.series, one.row.place), one)
    const key = `${one.row.scope} ${one.row.series}`
    const having = series.get(key) ?? asked.map(() => 0)
    one.tf.forEach((tf, at) => (having[at]! += tf > 0 ? 1 : 0))
    series.set(key, having)
  }
  const idf = asked.map((one) => idfOf(one, sizes.rows))
  const average = sizes.rows === 0 ? 1 : Math.max(1, sizes.len / sizes.rows)

  const scored = counted.flatMap(({ labelled, row, tf }): ReadonlyArray<Scored> => {
    const near = (away: number): Counted | undefined =>
      row.series === null ? undefined : byPlace.get(keyOf(row.scope, row.series, row.place + away))
    const [before, after, twoBefore, twoAfter] = [near(-1), near(1), near(-2), near(2)]
    const having = row.series === null ? undefined : series.get(`${row.scope} ${row.series}`)
    const length = k1 * (1 - b + (b * row.len) / average)
    const shares = { words: [], near: [], label: [] } as Record<
      "words" | "near" | "label",
      Array<readonly [string, number]>
    >
    let sum = 0
    for (let at = 0; at < asked.length; at++) {
      const own = tf[at]!
      const lent =
        beside * ((before?.tf[at] ?? 0) + (after?.tf[at] ?? 0)) +
        twoAway * ((twoBefore?.tf[at] ?? 0) + (twoAfter?.tf[at] ?? 0))
      const together = having?.[at] ?? 0
      const heard = own + lent + (inSeries * together) / (together + 1)
      const share = (idf[at]! * heard * (k1 + 1)) / (heard + length)
      const label = labelled[at] === true ? Math.max(leastLabel * asked[at]!.weight, idf[at]!) : 0
      sum += share + label
      if (own > 0) shares.words.push([asked[at]!.term, share])
      else if (lent > 0) shares.near.push([asked[at]!.term, share])
      if (label > 0) shares.label.push([asked[at]!.term, label])
    }
    if (shares.words.length + shares.near.length + shares.label.length === 0) return []
    return [
      {
        row,
        score: sum,
        words: largestFirst(shares.words),
        near: largestFirst(shares.near),
        label: largestFirst(shares.label),
      },
    ]
  })
  return scored.toSorted((one, other) => other.score - one.score || other.row.seq - one.row.seq)
}
