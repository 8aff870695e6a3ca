/** Five figures, each with a small line of its history. */
import { counted, money } from "../../parts/figures/money.logic.ts"
import { durationOf as length } from "../../parts/figures/time.logic.ts"
import { Spark } from "./Charts.tsx"
import { sumSeries, cumulativeSums, type PeriodName, sum } from "./overview.logic.ts"
import type { Figures } from "./useFigures.ts"
import { words } from "./words/en.ts"

interface TileProps {
  readonly name: string
  readonly figure: string
  readonly small: string
  readonly foot: string
  readonly points: ReadonlyArray<number>
  readonly tint: string
}

const Tile = ({ figure, foot, name, points, small, tint }: TileProps) => (
  <div className="card tile">
    <span className="small faint">{name}</span>
    <span className="figure">
      {figure} <small>{small}</small>
    </span>
    <Spark points={points} tint={tint} />
    <span className="small faint">{foot}</span>
  </div>
)

export const Tiles = ({ figures, span }: { readonly figures: Figures; readonly span: PeriodName }) => {
  const { calls, cost, decisions, runs } = figures
  const all = sumSeries(calls.done, calls.failed, calls.refused, calls.ended, calls.open)
  const bad = sumSeries(calls.failed, calls.refused)
  const part = sum(all) === 0 ? 0 : (sum(bad) / sum(all)) * 100
  return (
    <div className="tiles">
      <Tile
        name={words.callsAMinute}
        figure={counted(calls.lastMinute)}
        small={words.now}
        foot={words.callsInSpan(sum(all), span)}
        points={all}
        tint="t-model"
      />
      <Tile
        name={words.runs}
        figure={counted(runs.running)}
        small={words.runsNow(runs.waiting)}
        foot={words.slots(runs.slots.free, runs.slots.all, runs.queued)}
        points={sumSeries(runs.completed, runs.failed, runs.canceled)}
        tint="t-memory"
      />
      <Tile
        name={words.decisions}
        figure={counted(decisions.open)}
        small={words.open}
        foot={decisions.median === null ? words.noMedian : words.median(length(decisions.median))}
        points={decisions.asked}
        tint="overview-accent"
      />
      <Tile
        name={words.cost}
        figure={money(cost.today)}
        small={words.today}
        foot={words.byMidnight(money(cost.forecast))}
        points={cumulativeSums(cost.points)}
        tint="t-speech"
      />
      <Tile
        name={words.failures}
        figure={`${part.toFixed(part === 0 || part >= 10 ? 0 : 1)}\u00a0%`}
        small={words.ofCalls}
        foot={words.failedRefused(sum(calls.failed), sum(calls.refused))}
        points={bad}
        tint="overview-bad"
      />
    </div>
  )
}
