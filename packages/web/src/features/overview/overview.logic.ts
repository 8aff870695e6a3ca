/** Series as lines and bars of a chart that is 100 wide and 100 high, and as rows of a table. Pure. */

const hour = 3_600_000

export const periods = {
  "6h": { millis: 6 * hour, step: 300 },
  "1d": { millis: 24 * hour, step: 1200 },
  "7d": { millis: 168 * hour, step: 7200 },
} as const
export type PeriodName = keyof typeof periods

export const periodNamed = (name: string | undefined): PeriodName => (name === "1d" || name === "7d" ? name : "6h")

export const sum = (all: ReadonlyArray<number>): number => all.reduce((so, one) => so + one, 0)
export const sumSeries = (...all: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> =>
  (all[0] ?? []).map((_, at) => sum(all.map((one) => one[at] ?? 0)))

/** Cumulative sums. */
export const cumulativeSums = (all: ReadonlyArray<number>): ReadonlyArray<number> => {
  let so = 0
  return all.map((one) => (so += one))
}

/** The next round number: 1, 2 or 5 with zeros. */
export const axisTop = (most: number): number => {
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return ([1, 2, 5, 10].find((one) => one * power >= most) ?? 10) * power
}

const at = (value: number): string => value.toFixed(1)

export interface ChartBox {
  readonly width: number
  readonly height: number
}

/** A line through the points, with gaps at missing ones. A single point is a short line. */
export const lineOf = (points: ReadonlyArray<number | null>, most: number, { height, width }: ChartBox): string => {
  const x = (place: number) => (points.length === 1 ? 0 : (place / (points.length - 1)) * width)
  let path = ""
  let open = false
  points.forEach((point, place) => {
    if (point === null) {
      open = false
      return
    }
    const alone = !open && (points[place + 1] ?? null) === null
    path += `${open ? "L" : "M"}${at(x(place))} ${at(height - (point / most) * height)}${alone ? "h.6" : ""}`
    open = true
  })
  return path
}

/** The same, closed along the base line. */
export const areaOf = (points: ReadonlyArray<number>, most: number, box: ChartBox): string =>
  points.length === 0 ? "" : `${lineOf(points, most, box)}L${at(box.width)} ${at(box.height)}L0 ${at(box.height)}Z`

export interface ChartBar {
  readonly x: number
  readonly width: number
  readonly y: number
  readonly height: number
}

/** Stacked bars, in percent. */
export const barsOf = (
  points: ReadonlyArray<number>,
  below: ReadonlyArray<number>,
  most: number,
): ReadonlyArray<ChartBar> => {
  const room = 100 / Math.max(1, points.length)
  return points.flatMap((point, place) =>
    point === 0
      ? []
      : [
          {
            x: place * room,
            width: room * 0.75,
            y: 100 - (((below[place] ?? 0) + point) / most) * 100,
            height: (point / most) * 100,
          },
        ],
  )
}

/** Four ticks on the time axis, the last one now. */
export const ticksOf = (from: string, to: string): ReadonlyArray<number> => {
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  return [0, 1, 2].map((third) => begin + ((end - begin) * third) / 3)
}

export const momentOf = (from: string, step: number, place: number): number => Date.parse(from) + place * step * 1000

export const partOf = (spent: number, limit: number | null): number =>
  limit === null || limit === 0 ? 0 : Math.min(1, spent / limit)

/** The highest point and its value; null: no data. */
export const peakOf = (
  points: ReadonlyArray<number | null>,
): { readonly place: number; readonly value: number } | null => {
  let peak: { place: number; value: number } | null = null
  points.forEach((value, place) => {
    if (value !== null && value > 0 && (peak === null || value > peak.value)) peak = { place, value }
  })
  return peak
}

/** The smallest and largest value; null: no data. */
export const rangeOf = (points: ReadonlyArray<number | null>): readonly [number, number] | null => {
  const there = points.filter((one) => one !== null)
  return there.length === 0 ? null : [Math.min(...there), Math.max(...there)]
}
