/** What an agent remembers. */
import { Link } from "@tanstack/react-router"
import { type ComponentType, Suspense } from "react"
import { useStart } from "../../../feed/start.ts"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { type Agent, useMemoryOf } from "../useAgents.ts"
import { words } from "../words/en.ts"

export interface MemoryPaneProps {
  readonly agent: Pick<Agent, "id" | "name" | "owner">
  /** Features do not import each other: what others offer it comes from Memory. */
  readonly Offers: ComponentType<{ readonly agent: string }>
}

export const MemoryPane = ({ agent, Offers }: MemoryPaneProps) => {
  const { me } = useStart()
  const answers = agent.owner === me.id || me.roles.includes("admin")
  const { data, error, isPending, refetch } = useMemoryOf(agent.id)
  if (isPending) return <LoadingPane lines={6} />
  if (error !== null) return <FaultPane error={error} again={() => void refetch()} />
  return (
    <>
      {answers ? (
        <Suspense fallback={<LoadingPane lines={3} />}>
          <Offers agent={agent.name} />
        </Suspense>
      ) : null}
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
