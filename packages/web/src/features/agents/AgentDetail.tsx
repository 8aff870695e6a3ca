/** One agent: its prompt, what it has, what it does, and its off switch. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { type ComponentType, Suspense, useState } from "react"
import { useLiveRuns, useNames, useStart } from "../../feed/start.ts"
import type { Principal } from "../../feed/types.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { Notes } from "../../parts/panes/Notes.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { LimitsPane } from "./panes/LimitsPane.tsx"
import { AgentPauseForm, PauseSwitch } from "./PauseSwitch.tsx"
import { MemoryPane, type MemoryPaneProps } from "./panes/MemoryPane.tsx"
import { PromptPane } from "./panes/PromptPane.tsx"
import { RunsPane } from "./panes/RunsPane.tsx"
import { TalkPane } from "./panes/TalkPane.tsx"
import { ToolsPane } from "./panes/ToolsPane.tsx"
import { type Agent, useAgent } from "./useAgents.ts"
import { words } from "./words/en.ts"

const tabs = ["prompt", "talk", "tools", "memory", "runs", "limits", "tokens"] as const
/** Only admins see tokens of others. */
const openTabs = tabs.filter((one) => one !== "tokens")

/** What it does now, with a link. */
const Now = ({ agent }: { readonly agent: Agent }) => {
  const runs = (useLiveRuns().data ?? []).filter((run) => run.agent === agent.id)
  return runs.slice(0, 3).map((run) => (
    <p key={run.id} className="note" data-tone={run.state === "running" ? "good" : "warn"}>
      <Icon name={run.state === "running" ? "play" : "hourglass"} small />
      <span>
        {run.trigger.summary}{" "}
        <Link to="/runs/$run" params={{ run: run.id }}>
          {words.itsRun}
        </Link>
      </span>
    </p>
  ))
}

export interface AgentDetailProps extends Pick<MemoryPaneProps, "Offers"> {
  readonly name: string
  /** Features do not import each other: tokens come from People. */
  readonly Tokens: ComponentType<{ readonly who: Principal }>
}

export const AgentDetail = ({ name, Offers, Tokens }: AgentDetailProps) => {
  const { tab: wanted } = useSearch({ strict: false })
  const navigate = useNavigate()
  const names = useNames()
  const { me } = useStart()
  const { data: agent, error, isPending, refetch } = useAgent(name)
  const [asks, ask] = useState(false)
  const admin = me.roles.includes("admin")
  const shown = admin ? tabs : openTabs
  const tab = shown.find((one) => one === wanted) ?? "prompt"
  return (
    <aside className="scroll" aria-label={name}>
      <div className="page stack agents-detail">
        {isPending ? <LoadingPane /> : null}
        {error === null ? null : <FaultPane error={error} again={() => void refetch()} />}
        {agent === undefined ? null : (
          <>
            <div className="line agents-head">
              <Avatar name={agent.name} kind="agent" size="l" />
              <div>
                <h2>{agent.name}</h2>
                <p className="faint small">
                  {words.madeAt(agent.roles.join(", "), "")}
                  <AgoTime at={agent.createdAt} said />
                  {agent.parent === null ? "" : ` · ${words.worksFor(names(agent.parent))}`}
                </p>
              </div>
              <PauseSwitch name={agent.name} asks={asks} ask={ask} may={admin} />
            </div>
            {asks ? <AgentPauseForm name={agent.name} ask={ask} /> : null}
            {agent.source === "file" ? <p className="note">{words.byFile}</p> : null}
            <Notes title={words.notes} notes={agent.notes} />
            <Now agent={agent} />
            <div className="tabs" role="tablist" aria-label={words.tabsOf(agent.name)}>
              {shown.map((one) => (
                <button
                  key={one}
                  type="button"
                  role="tab"
                  id={`agent-tab-${one}`}
                  aria-selected={one === tab}
                  aria-controls="agent-pane"
                  onClick={() =>
                    void navigate({ to: "/agents/$name", params: { name }, search: { tab: one }, replace: true })
                  }
                >
                  {words.tabs[one]}
                </button>
              ))}
            </div>
            <div className="stack agents-pane" role="tabpanel" id="agent-pane" aria-labelledby={`agent-tab-${tab}`}>
              {tab === "prompt" ? <PromptPane agent={agent} may={admin} /> : null}
              {tab === "talk" ? <TalkPane agent={agent} /> : null}
              {tab === "tools" ? <ToolsPane name={agent.name} /> : null}
              {tab === "memory" ? <MemoryPane agent={agent} Offers={Offers} /> : null}
              {tab === "runs" ? <RunsPane agent={agent} /> : null}
              {tab === "tokens" ? (
                <Suspense fallback={<LoadingPane />}>
                  <Tokens who={agent} />
                </Suspense>
              ) : null}
              {tab === "limits" ? <LimitsPane agent={agent} may={admin && agent.source !== "file"} /> : null}
            </div>
          </>
        )}
      </div>
    </aside>
  )
}
