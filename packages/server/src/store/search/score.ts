/**
 * How well a row answers a question: BM25 over counts that include the neighbouring rows; a word in the label counts
 * separately. Computed from our own statistics, so that SQLite and Postgres give the same order. Pure.
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

/** A term of the question. `weight` is below 1 for a correction of a misspelt word. */
export interface QueryTerm {
  readonly term: string
  readonly n: number
  readonly weight: number
}

export interface Sizes {
  readonly rows: number
  readonly len: number
}

/** The terms of the question by where they were found, the largest contribution first. */
export interface MatchReasons {
  readonly words: ReadonlyArray<string>
  readonly near: ReadonlyArray<string>
  readonly label: ReadonlyArray<string>
}

export interface ScoredRow {
  readonly row: Row
  readonly score: number
  /** Computed only for rows that are shown: most scored rows are not. */
  readonly why: () => MatchReasons
}

const k1 = 0.9
const b = 0.15
const beside = 0.4
const twoAway = 0.2
const inSeries = 0.2
const leastLabel = 3

const idfOf = ({ n, weight }: QueryTerm, rows: number): number =>
  weight * Math.log(1 + (Math.max(rows, n) - n + 0.5) / (n + 0.5))

/** Rarest first, ties by term: both databases sum in the same order, to the last bit. */
export const rarestFirst = (one: QueryTerm, other: QueryTerm): number =>
  one.n - other.n || (one.term < other.term ? -1 : one.term > other.term ? 1 : 0)

/** How often each term of the question is in a row, in their order. */
export interface CountedRow {
  readonly row: Row
  readonly tf: ReadonlyArray<number>
  readonly labelled: ReadonlyArray<boolean>
}

/** Counts rows, whose texts may be long; counted rows can be scored repeatedly. */
export const counter = (asked: ReadonlyArray<QueryTerm>): ((row: Row) => CountedRow) => {
  const places = new Map(asked.map(({ term }, at) => [term, at]))
  return (row) => {
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
}

interface Series {
  readonly byPlace: Map<number, CountedRow>
  /** In how many rows of the series each term is. */
  readonly having: Array<number>
}

const seriesIn = (counted: ReadonlyArray<CountedRow>, terms: number): ((row: Row) => Series | undefined) => {
  const scopes = new Map<number, Map<string, Series>>()
  for (const one of counted) {
    const { place, scope, series } = one.row
    if (series === null) continue
    let all = scopes.get(scope)
    if (all === undefined) scopes.set(scope, (all = new Map()))
    let known = all.get(series)
    if (known === undefined)
      all.set(series, (known = { byPlace: new Map(), having: Array.from({ length: terms }, () => 0) }))
    known.byPlace.set(place, one)
    for (let at = 0; at < terms; at++) if (one.tf[at]! > 0) known.having[at]!++
  }
  return ({ scope, series }) => (series === null ? undefined : scopes.get(scope)?.get(series))
}

const largestFirst = (shares: ReadonlyArray<readonly [term: string, share: number]>): ReadonlyArray<string> =>
  shares.toSorted((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).map(([term]) => term)

/** Best first, then newest. `asked` must be rarest first. Rows that share nothing with the question are left out. */
export const score = (
  counted: ReadonlyArray<CountedRow>,
  asked: ReadonlyArray<QueryTerm>,
  sizes: Sizes,
): ReadonlyArray<ScoredRow> => {
  const seriesOf = seriesIn(counted, asked.length)
  const idf = asked.map((one) => idfOf(one, sizes.rows))
  const average = sizes.rows === 0 ? 1 : Math.max(1, sizes.len / sizes.rows)

  const scored: Array<ScoredRow> = []
  for (const { labelled, row, tf } of counted) {
    const series = seriesOf(row)
    const near = (away: number) => series?.byPlace.get(row.place + away)?.tf
    const [before, after, twoBefore, twoAfter] = [near(-1), near(1), near(-2), near(2)]
    const length = k1 * (1 - b + (b * row.len) / average)
    const lentAt = (at: number): number =>
      beside * ((before?.[at] ?? 0) + (after?.[at] ?? 0)) + twoAway * ((twoBefore?.[at] ?? 0) + (twoAfter?.[at] ?? 0))
    const shareAt = (at: number, lent: number): number => {
      const together = series?.having[at] ?? 0
      const heard = tf[at]! + lent + (inSeries * together) / (together + 1)
      return (idf[at]! * heard * (k1 + 1)) / (heard + length)
    }
    const labelAt = (at: number): number =>
      labelled[at] === true ? Math.max(leastLabel * asked[at]!.weight, idf[at]!) : 0
    let sum = 0
    let shares = false
    for (let at = 0; at < asked.length; at++) {
      const lent = lentAt(at)
      const label = labelAt(at)
      sum += shareAt(at, lent) + label
      shares ||= tf[at]! > 0 || lent > 0 || label > 0
    }
    const why = (): MatchReasons => {
      const parts = { words: [], near: [], label: [] } as Record<keyof MatchReasons, Array<readonly [string, number]>>
      for (const [at, { term }] of asked.entries()) {
        const lent = lentAt(at)
        if (tf[at]! > 0) parts.words.push([term, shareAt(at, lent)])
        else if (lent > 0) parts.near.push([term, shareAt(at, lent)])
        const label = labelAt(at)
        if (label > 0) parts.label.push([term, label])
      }
      const { label, near, words } = parts
      return { words: largestFirst(words), near: largestFirst(near), label: largestFirst(label) }
    }
    if (shares) scored.push({ row, score: sum, why })
  }
  return scored.toSorted((one, other) => other.score - one.score || other.row.seq - one.row.seq)
}
