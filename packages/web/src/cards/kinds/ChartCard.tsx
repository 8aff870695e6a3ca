/** A line over time or steps: it is a canvas, so there is a table behind it. */
import "uplot/dist/uPlot.min.css"
import { useEffect, useRef } from "react"
import uPlot from "uplot"
import type { Series } from "./kinds.logic.ts"
import { words } from "./words/en.ts"

export const ChartCard = ({ series }: { readonly series: Series }) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = box.current
    if (place === null) return
    const style = getComputedStyle(place)
    const axis = { stroke: style.color, grid: { stroke: style.outlineColor, width: 1 }, ticks: { show: false } }
    const chart = new uPlot(
      {
        width: place.clientWidth,
        height: 160,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false } },
        axes: [{ ...axis, values: (_, at) => at.map((one) => series.labels[one] ?? "") }, axis],
        series: [{}, { stroke: style.caretColor, width: 2 }],
      },
      [series.x as Array<number>, series.y as Array<number>],
      place,
    )
    return () => chart.destroy()
  }, [series])
  const label = words.chart(
    series.labels[0] ?? "",
    series.labels.at(-1) ?? "",
    Math.min(...series.y),
    Math.max(...series.y),
  )
  return (
    <div className="stack tight">
      <div ref={box} className="chart" role="img" aria-label={label} />
      <details className="small">
        <summary className="faint">{words.asTable}</summary>
        <table className="table">
          <tbody>
            {series.labels.map((name, at) => (
              <tr key={at}>
                <td>{name}</td>
                <td className="r num">{series.y[at]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  )
}
