/** What an agent did last. */
import { Link } from "@tanstack/react-router"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { money } from "../../../parts/figures/money.logic.ts"
import { EmptyPane, FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { AgoTime } from "../../../parts/figures/Time.tsx"
import { type Agent, useRunsOf } from "../useAgents.ts"
import { words } from "../words/en.ts"

export const RunsPane = ({ agent }: { readonly agent: Pick<Agent, "id" | "name"> }) => {
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
