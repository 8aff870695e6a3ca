/** What an agent has and did: its tools and why, its runs, its memory. */
import { Link } from "@tanstack/react-router"
import { Icon } from "../../parts/signs/Icon.tsx"
import { money } from "../../parts/figures/money.logic.ts"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { useMemoryOf, useRunsOf, useTools } from "./useAgents.ts"
import { words } from "./words/en.ts"

interface Shown {
  readonly id: string
  readonly name: string
}

export const ToolsPane = ({ name }: { readonly name: string }) => {
  const { data, error, isPending, refetch } = useTools(name)
  if (isPending) return <LoadingPane lines={6} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <EmptyPane>{words.toolsEmpty}</EmptyPane>
  return (
    <>
      <p className="faint small">{words.hasTools(data.items.length)}</p>
      <ul className="rows agents-tools">
        {data.items.map((tool) => (
          <li key={tool.name}>
            <code>{tool.name}</code>
            <span className="faint small cut">{tool.description}</span>
            <span className="tag">{tool.set}</span>
            {tool.asks === true ? (
              <span className="pill" data-tone="warn">
                <Icon name="inbox" />
                {words.asks}
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      {data.leftOut.length === 0 ? null : (
        <details>
          <summary className="line">
            <Icon name="chevron-right" small />
            {words.leftOut} <span className="count quiet">{data.leftOut.length}</span>
          </summary>
          <ul className="rows agents-tools">
            {data.leftOut.map((tool) => (
              <li key={tool.name}>
                <code>{tool.name}</code>
                <span className="faint small">{tool.why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

export const RunsPane = ({ agent }: { readonly agent: Shown }) => {
  const { data, error, isPending, refetch } = useRunsOf(agent.id)
  if (isPending) return <LoadingPane lines={6} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  if (data.length === 0) return <EmptyPane>{words.runsEmpty}</EmptyPane>
  return (
    <>
      <ul className="rows agents-runs">
        {data.map((run) => (
          <li key={run.id}>
            <Link className="pick" to="/runs/$run" params={{ run: run.id }}>
              <Icon name="activity" small />
              <b className="cut">{run.trigger.summary}</b>
              <AgoTime at={run.createdAt} />
              <span className="sub cut">
                {run.state} · {words.steps(run.step)} · {money(run.cost)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <p>
        <Link className="button tiny" to="/runs" search={{ agent: agent.name }}>
          {words.allRuns}
        </Link>
      </p>
    </>
  )
}

export const MemoryPane = ({ agent }: { readonly agent: Shown }) => {
  const { data, error, isPending, refetch } = useMemoryOf(agent.id)
  if (isPending) return <LoadingPane lines={6} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  return (
    <>
      <p className="faint small">{words.memoryHint}</p>
      {data.length === 0 ? <EmptyPane>{words.memoryEmpty}</EmptyPane> : null}
      <ul className="rows">
        {data.map((record) => (
          <li key={record.id}>
            <Link className="pick" to="/memory/$id" params={{ id: record.id }} search={{ owner: agent.name }}>
              <Icon name="file-text" small />
              <b className="cut">{record.key}</b>
              <span className="faint small">{record.kind}</span>
              <span className="sub cut">{record.content.slice(0, 120)}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p>
        <Link className="button tiny" to="/memory" search={{ owner: agent.name }}>
          {words.memoryAll}
        </Link>
      </p>
    </>
  )
}
