/** One run: what happened, why, what it cost, and how to continue. */
import "./Runs.css"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useMemo, useState } from "react"
import { useNames, useStart } from "../../feed/start.ts"
import type { Run } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { counted, money } from "../../parts/figures/money.logic.ts"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { durationOf as lengthOf } from "../../parts/figures/time.logic.ts"
import { ClockTime, useNow } from "../../parts/figures/Time.tsx"
import { firstOf, type Scale, scaleOf, shownOf, spansOf } from "./waterfall/spans.logic.ts"
import type { WholeRun } from "./run.logic.ts"
import { RunActions } from "./RunActions.tsx"
import { type DetailTab, RunDetail } from "./detail/RunDetail.tsx"
import { RunPill } from "./RunPill.tsx"
import { RunTable } from "./RunTable.tsx"
import { useInside, useRun, useRunList, useTrigger } from "./useRuns.ts"
import { Waits } from "./Waits.tsx"
import { Waterfall } from "./waterfall/Waterfall.tsx"
import { words } from "./words/en.ts"

const WokenBy = ({ run }: { readonly run: Run }) => {
  const { spaces } = useStart()
  const { data: message } = useTrigger(run)
  const space = spaces.find(({ id }) => id === message?.space)
  if (message === undefined || space === undefined)
    return (
      <>
        {words.wokenKinds[run.trigger.kind]}, <ClockTime at={run.createdAt} />
      </>
    )
  return (
    <Link to="/s/$space" params={{ space: space.name }} search={{ at: message.seq }}>
      {message.author.name}, <ClockTime at={message.createdAt} />
    </Link>
  )
}

const Facts = ({ run, scale }: { readonly run: Run; readonly scale: Scale }) => (
  <dl className="facts run-facts">
    <div>
      <dt>{words.wokenBy}</dt>
      <dd>
        <WokenBy run={run} />
      </dd>
    </div>
    <div>
      <dt>{words.worked}</dt>
      <dd>{lengthOf(scale.worked)}</dd>
    </div>
    <div>
      <dt>{words.waited}</dt>
      <dd>{lengthOf(scale.waited)}</dd>
    </div>
    <div>
      <dt>{words.steps}</dt>
      <dd>{words.stepsOf(run.step, run.limits.steps)}</dd>
    </div>
    <div>
      <dt>{words.tokens}</dt>
      <dd>{counted(run.tokens.in + run.tokens.out)}</dd>
    </div>
    <div>
      <dt>{words.cost}</dt>
      <dd>
        {money(run.cost)}{" "}
        {run.limits.cost === undefined ? null : <span className="faint">{words.costOf(money(run.limits.cost))}</span>}
      </dd>
    </div>
    {run.retryOf === undefined ? null : (
      <div>
        <dt>{words.retryOf}</dt>
        <dd>
          <Link to="/runs/$run" params={{ run: run.retryOf }}>
            {words.anotherRun}
          </Link>
        </dd>
      </div>
    )}
    {run.root === run.id ? null : (
      <div>
        <dt>{words.worksFor}</dt>
        <dd>
          <Link to="/runs/$run" params={{ run: run.root }}>
            {words.outerRun}
          </Link>
        </dd>
      </div>
    )}
  </dl>
)

const Legend = ({ folds, id }: { readonly id: string; readonly folds: boolean }) => {
  const search = useSearch({ from: "/house/runs/$run" })
  const { scale: isTrue, ...rest } = search
  return (
    <p className="line wrap run-keys">
      {Object.entries(words.keys).map(([kind, name]) => (
        <span key={kind} className={`key t-${kind}`}>
          {name}
        </span>
      ))}
      {folds || isTrue === true ? (
        <span className="push faint small">
          {isTrue === true ? words.trueNote : words.foldedNote} ·{" "}
          <Link
            to="/runs/$run"
            params={{ run: id }}
            search={isTrue === true ? rest : { ...search, scale: true }}
            replace
          >
            {isTrue === true ? words.fold : words.trueScale}
          </Link>
        </span>
      ) : null}
    </p>
  )
}

const Others = ({ run }: { readonly run: Run }) => {
  const names = useNames()
  const { data } = useRunList({ agent: run.agent })
  const runs = (data?.pages[0]?.items ?? []).slice(0, 8)
  if (runs.length < 2) return null
  return (
    <section className="stack">
      <h2 className="label">{words.others(names(run.agent))}</h2>
      <RunTable runs={runs} label={words.others(names(run.agent))} current={run.id} ofOne />
    </section>
  )
}

const toggled = (set: ReadonlySet<string>, id: string): ReadonlySet<string> => {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}

const RunBody = ({ taken }: { readonly taken: WholeRun }) => {
  const { run } = taken
  const { scale: isTrue, span: wanted, tab } = useSearch({ from: "/house/runs/$run" })
  const navigate = useNavigate()
  const names = useNames()
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const inside = useInside(
    taken.children.map(({ id }) => id).filter((id) => [...turned].some((one) => one.endsWith(id))),
  )
  const ticks = useNow(run.state === "running" ? 250 : 1000)
  const now = run.endedAt === null ? ticks : 0
  const spans = useMemo(() => spansOf(taken, inside), [taken, inside])
  const rows = useMemo(() => shownOf(spans, turned), [spans, turned])
  const scale = useMemo(() => scaleOf(spans, now, isTrue === true), [spans, now, isTrue])
  const selected = spans.find(({ id }) => id === wanted) ?? firstOf(spans)
  const go = (more: { readonly span?: string; readonly tab?: string }) =>
    void navigate({
      to: "/runs/$run",
      params: { run: run.id },
      search: { ...(isTrue === true ? { scale: true } : {}), ...more },
      replace: true,
    })
  return (
    <div className="split run-split">
      <div className="scroll" ref={setScroller}>
        <div className="page run-page stack">
          <Facts run={run} scale={scale} />
          {run.failure === undefined ? null : (
            <p className="note" data-tone="bad">
              <Icon name="circle-alert" small />
              <span>{run.failure}</span>
            </p>
          )}
        </div>
        <Legend id={run.id} folds={scale.folded.length > 0} />
        <Waterfall
          rows={rows}
          scale={scale}
          now={now}
          turned={turned}
          turn={(id) => setTurned((old) => toggled(old, id))}
          selected={selected?.id}
          choose={(id) => go({ span: id, ...(tab === undefined ? {} : { tab }) })}
          names={names}
          scroller={scroller}
        />
        <div className="run-under">
          {run.state.startsWith("waiting") ? (
            <p className="note">
              <Icon name="circle-check" small />
              <span>{words.whileWaits(run.step)}</span>
            </p>
          ) : null}
          <Waits run={run} />
          <Others run={run} />
        </div>
      </div>
      {selected === undefined ? (
        <aside className="panel" aria-label={words.details("")} />
      ) : (
        <RunDetail
          key={selected.id}
          run={run}
          span={selected}
          tab={(tab ?? "call") as DetailTab}
          chosen={selected.id === wanted}
          names={names}
          show={(next) => go({ span: selected.id, tab: next })}
          close={() => go({})}
        />
      )}
    </div>
  )
}

export const RunScreen = () => {
  const { run: id } = useParams({ from: "/house/runs/$run" })
  const { span } = useSearch({ from: "/house/runs/$run" })
  const names = useNames()
  const { data, error, isPending, refetch } = useRun(id)
  const run = data?.run
  const step = Number(/(?:^|\.)s(\d+)/.exec(span ?? "")?.[1] ?? run?.step ?? 1)
  return (
    <>
      <Header
        title={words.run}
        up="/runs"
        sub={
          run === undefined ? null : (
            <>
              <span className="strong">{names(run.agent)}</span> {run.trigger.summary}
            </>
          )
        }
      >
        {run === undefined ? null : (
          <>
            <RunPill run={run} />
            <RunActions run={run} step={step} />
          </>
        )}
      </Header>
      {isPending ? <LoadingPane lines={8} /> : null}
      {error === null || data !== undefined ? null : <FaultPane error={error} again={() => void refetch()} />}
      {data === undefined ? null : <RunBody key={id} taken={data} />}
    </>
  )
}
