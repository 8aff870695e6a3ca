/** Is the house well, what does it cost, what needs attention? */
import "./Overview.css"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { moment } from "../../feed/clock.ts"
import { useStart } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { counted } from "../../parts/figures/money.logic.ts"
import { ToggleGroup } from "../../parts/form/ToggleGroup.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { clockOf, durationOf as length } from "../../parts/figures/time.logic.ts"
import { CostCard, HouseCard } from "./Cards.tsx"
import { Chart } from "./Charts.tsx"
import { Needs } from "./Needs.tsx"
import {
  sumSeries,
  momentOf,
  peakOf,
  rangeOf,
  axisTop,
  type PeriodName,
  periodNamed,
  periods,
  sum,
} from "./overview.logic.ts"
import { HousePauseButton, HousePausedNote, HousePauseForm } from "./HousePause.tsx"
import { Tiles } from "./Tiles.tsx"
import { type Figures, useFigures, usePaused } from "./useFigures.ts"
import { words } from "./words/en.ts"

const PeriodToggle = ({ span }: { readonly span: PeriodName }) => {
  const navigate = useNavigate()
  return (
    <ToggleGroup
      options={Object.keys(periods) as ReadonlyArray<PeriodName>}
      value={span}
      nameOf={(name) => words.spans[name]}
      choose={(name) => void navigate({ to: "/overview", search: name === "6h" ? {} : { span: name } })}
      label={words.span}
      isTiny
    />
  )
}

interface ChartsOf {
  readonly figures: Figures
  readonly span: PeriodName
}

const peakAt = ({ from, step }: Figures, points: ReadonlyArray<number | null>): string | null => {
  const peak = peakOf(points)
  return peak === null ? null : clockOf(moment(momentOf(from, step, peak.place)).toISOString())
}

const CallsChart = ({ figures, span }: ChartsOf) => {
  const { calls, from, step, to } = figures
  const bad = sumSeries(calls.failed, calls.refused)
  const other = sumSeries(calls.ended, calls.open)
  const all = sumSeries(calls.done, bad, other)
  return (
    <Chart
      title={words.calls}
      tall
      sentence={words.callsSentence(sum(all), span, sum(bad), peakAt(figures, all))}
      kind="bars"
      series={[
        { name: words.done, tint: "t-model", points: calls.done },
        { name: words.bad, tint: "overview-bad", points: bad },
        { name: words.other, tint: "t-wait", points: other },
      ]}
      {...{ from, step, to }}
      most={axisTop(Math.max(...all, 1))}
      unit={(value) => counted(value)}
      note={calls.since === null ? null : <p className="small faint">{words.notAll(clockOf(calls.since))}</p>}
    />
  )
}

const said = (points: ReadonlyArray<number | null>): string | null => {
  const reach = rangeOf(points)
  return reach === null ? null : words.between(length(reach[0]), length(reach[1]))
}

const LatencyChart = ({ figures }: ChartsOf) => {
  const { calls, from, step, to } = figures
  return (
    <Chart
      title={words.latency}
      sentence={words.latencySentence(said(calls.p50), said(calls.p95), peakAt(figures, calls.p95))}
      kind="lines"
      series={[
        { name: words.half, tint: "t-memory", points: calls.p50 },
        { name: words.most, tint: "t-wait", points: calls.p95 },
      ]}
      {...{ from, step, to }}
      most={axisTop(Math.max(rangeOf(calls.p95)?.[1] ?? 0, 1))}
      unit={length}
    />
  )
}

const RunsChart = ({ figures, span }: ChartsOf) => {
  const { from, runs, step, to } = figures
  const all = sumSeries(runs.completed, runs.failed, runs.canceled)
  return (
    <Chart
      title={words.runsEnded}
      sentence={words.runsSentence(sum(runs.completed), sum(runs.failed), span)}
      kind="bars"
      series={[
        { name: words.completed, tint: "t-memory", points: runs.completed },
        { name: words.failed, tint: "overview-bad", points: runs.failed },
        { name: words.canceled, tint: "t-wait", points: runs.canceled },
      ]}
      {...{ from, step, to }}
      most={axisTop(Math.max(...all, 2))}
      unit={(value) => counted(value)}
    />
  )
}

export const OverviewScreen = () => {
  const span = periodNamed(useSearch({ from: "/house/overview" }).span)
  const { me } = useStart()
  const { data: figures, error, isPending, refetch } = useFigures(span)
  const [asks, ask] = useState(false)
  const paused = usePaused()
  const mayPause = me.roles.includes("admin") && paused === undefined
  return (
    <>
      <Header title={words.title} up="/house">
        <PeriodToggle span={span} />
        {mayPause && !asks ? <HousePauseButton ask={() => ask(true)} /> : null}
      </Header>
      <div className="scroll grow">
        <div className="page stack wide-gap">
          {asks && mayPause ? <HousePauseForm close={() => ask(false)} /> : null}
          {paused === undefined ? null : <HousePausedNote reason={paused.reason} />}
          {isPending ? <LoadingPane lines={8} /> : null}
          {error === null ? null : <FaultPane error={error} again={() => void refetch()} />}
          {figures === undefined ? null : (
            <>
              <Tiles figures={figures} span={span} />
              <div className="two wide-first">
                <CallsChart figures={figures} span={span} />
                <Needs needs={figures.needs} />
              </div>
              <div className="two wide-first">
                <LatencyChart figures={figures} span={span} />
                <CostCard cost={figures.cost} />
              </div>
              <RunsChart figures={figures} span={span} />
              {figures.house === null ? null : <HouseCard house={figures.house} />}
            </>
          )}
        </div>
      </div>
    </>
  )
}
