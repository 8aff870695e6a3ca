/** Runs, one per line. */
import { Link } from "@tanstack/react-router"
import { useNames } from "../../feed/start.ts"
import type { Run } from "../../feed/types.ts"
import { money } from "../../parts/figures/money.logic.ts"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { RunPill } from "./RunPill.tsx"
import { words } from "./words/en.ts"

export interface RunTableProps {
  readonly runs: ReadonlyArray<Run>
  readonly label: string
  readonly current?: string
  /** All of one agent, which the page already names. */
  readonly ofOne?: boolean
}

export const RunTable = ({ current, label, ofOne = false, runs }: RunTableProps) => {
  const names = useNames()
  return (
    <div className="card scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table className="table runs-table">
        <thead>
          <tr>
            {ofOne ? null : <th>{words.agent}</th>}
            <th>{words.wokenBy}</th>
            <th>{words.stateColumn}</th>
            <th className="r wide-only">{words.steps}</th>
            <th className="r wide-only">{words.cost}</th>
            <th className="r wide-only">{words.began}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id} {...(run.id === current ? { "data-here": "" } : {})}>
              {ofOne ? null : (
                <td>
                  <span className="line">
                    <Avatar name={names(run.agent)} kind="agent" size="s" />
                    <span className="strong">{names(run.agent)}</span>
                  </span>
                </td>
              )}
              <td className="runs-what">
                <Link to="/runs/$run" params={{ run: run.id }} className="cut runs-link">
                  {run.trigger.summary || words.wokenKinds[run.trigger.kind]}
                </Link>
              </td>
              <td>
                <RunPill run={run} />
              </td>
              <td className="r num wide-only">{run.step}</td>
              <td className="r num wide-only">{money(run.cost)}</td>
              <td className="r num wide-only">
                <AgoTime at={run.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
