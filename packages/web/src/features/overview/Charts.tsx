/** A chart with a sentence as its name, and the same as a table with the numbers. */
import type { ReactNode } from "react"
import { moment } from "../../feed/clock.ts"
import { clockOf, fullTime } from "../../parts/figures/time.logic.ts"
import { areaOf, barsOf, lineOf, momentOf, ticksOf } from "./overview.logic.ts"
import { words } from "./words/en.ts"

const spark = { width: 100, height: 28 }
const whole = { width: 100, height: 100 }

export interface SparkProps {
  readonly points: ReadonlyArray<number>
  readonly tint: string
}

/** Beside a number that says the same, so a screen reader misses nothing. */
export const Spark = ({ points, tint }: SparkProps) => {
  const most = Math.max(...points, 1e-9)
  return (
    <svg
      className={`overview-spark ${tint}`}
      viewBox={`0 0 ${spark.width} ${spark.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className="overview-area" d={areaOf(points, most, spark)} />
      <path className="overview-line" d={lineOf(points, most, spark)} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}

interface Series {
  readonly name: string
  readonly tint: string
  readonly points: ReadonlyArray<number | null>
}

export interface ChartProps {
  readonly title: string
  readonly sentence: string
  readonly kind: "bars" | "lines"
  readonly series: ReadonlyArray<Series>
  readonly from: string
  readonly to: string
  readonly step: number
  readonly most: number
  readonly unit: (value: number) => string
  readonly note?: ReactNode
  readonly tall?: boolean
}

const Grid = () => (
  <>
    {[0, 50, 100].map((y) => (
      <line key={y} className="grid" x1="0" x2="100" y1={y} y2={y} vectorEffect="non-scaling-stroke" />
    ))}
  </>
)

const filled = (points: ReadonlyArray<number | null>) => points.map((one) => one ?? 0)

const Bars = ({ most, series }: Pick<ChartProps, "most" | "series">) => (
  <>
    {series.map(({ name, points, tint }, place) => {
      const below = filled(points).map((_, at) =>
        series.slice(0, place).reduce((so, one) => so + (one.points[at] ?? 0), 0),
      )
      return (
        <g key={name} className={`overview-bars ${tint}`}>
          {barsOf(filled(points), below, most).map((bar) => (
            <rect key={bar.x} {...bar} />
          ))}
        </g>
      )
    })}
  </>
)

const DataTable = ({ from, series, step, title, unit }: ChartProps) => {
  // Empty points would hide those with data.
  const places = (series[0]?.points ?? []).flatMap((_, at) =>
    series.some(({ points }) => (points[at] ?? 0) !== 0) ? [at] : [],
  )
  if (places.length === 0) return <p className="faint small">{words.noneInSpan}</p>
  return (
    <div className="scroll-x overview-table" tabIndex={0} role="region" aria-label={title}>
      <table className="table">
        <thead>
          <tr>
            <th>{words.from}</th>
            {series.map(({ name }) => (
              <th key={name} className="r">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((at) => {
            const when = moment(momentOf(from, step, at)).toISOString()
            return (
              <tr key={at}>
                <td>
                  <time dateTime={when}>{fullTime(when)}</time>
                </td>
                {series.map(({ name, points }) => (
                  <td key={name} className="r num">
                    {points[at] === null || points[at] === undefined ? "–" : unit(points[at])}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

export const Chart = (props: ChartProps) => {
  const { from, kind, most, note, sentence, series, tall = false, title, to, unit } = props
  return (
    <section className={tall ? "card overview-chart overview-tall" : "card overview-chart"}>
      <header>
        <h2>{title}</h2>
        <span className="push line overview-keys">
          {series.map(({ name, tint }) => (
            <span key={name} className={`key ${tint}`}>
              {name}
            </span>
          ))}
        </span>
      </header>
      <div className="in stack">
        <div className="plot" role="img" aria-label={sentence}>
          <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
            <Grid />
            {kind === "bars" ? (
              <Bars most={most} series={series} />
            ) : (
              series.map(({ name, points, tint }) => (
                <path
                  key={name}
                  className={`overview-line ${tint}`}
                  d={lineOf(points, most, whole)}
                  vectorEffect="non-scaling-stroke"
                />
              ))
            )}
          </svg>
          <span className="y">
            {[most, most / 2, 0].map((value) => (
              <i key={value}>{unit(value)}</i>
            ))}
          </span>
          <span className="x">
            {ticksOf(from, to).map((tick) => (
              <i key={tick}>{clockOf(moment(tick).toISOString())}</i>
            ))}
            <i>{words.now}</i>
          </span>
        </div>
        {note}
        <details>
          <summary className="small">{words.asTable}</summary>
          <DataTable {...props} />
        </details>
      </div>
    </section>
  )
}
