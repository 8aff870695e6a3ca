/** Agents: make one, understand one, stop one. */
import "./Agents.css"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { useLiveRuns, useNames, usePeople, useStart } from "../../feed/start.ts"
import type { Principal } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { isWide } from "../../parts/settings.ts"
import { money } from "../../parts/figures/money.logic.ts"
import { EmptyPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { ClockTime } from "../../parts/figures/Time.tsx"
import { AgentDetail, type AgentDetailProps } from "./AgentDetail.tsx"
import { activityOf, filterAgents, personaSummary, isPaused, looks, shareOf } from "./agents.logic.ts"
import { TeamTree } from "./TeamTree.tsx"
import { NewAgent } from "./NewAgent.tsx"
import { ResumeButton } from "./PauseSwitch.tsx"
import { usePauses, useProfiles, useSpent } from "./useAgents.ts"
import { words } from "./words/en.ts"

const Spending = ({ most, spent }: { readonly spent: number; readonly most: number | undefined }) => {
  const { near, share } = shareOf(spent, most)
  return (
    <>
      {money(spent)} <span className="faint">{most === undefined ? "" : words.ofBudget(money(most))}</span>
      {most === undefined ? null : (
        <span className="meter" role="img" aria-label={words.spent(money(spent), money(most))} data-near={near}>
          <i style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </>
  )
}

const AgentList = ({ agents, current }: { readonly agents: ReadonlyArray<Principal>; readonly current?: string }) => {
  const live = useLiveRuns().data ?? []
  const profiles = useProfiles(agents)
  const spent = useSpent()
  const subjects = usePauses().map(({ subject }) => subject)
  return (
    <table className="table agents-table">
      <thead>
        <tr>
          <th>{words.agent}</th>
          <th>{words.state}</th>
          <th className="wide-only">{words.today}</th>
        </tr>
      </thead>
      <tbody>
        {agents.map((agent) => {
          const profile = profiles.get(agent.id)
          const { run, state } = activityOf(agent, live, isPaused(agent.name, subjects))
          const shown = state === "idle" && profile !== undefined && profile.model === null ? "program" : state
          const { icon, tone } = looks[shown]
          return (
            <tr key={agent.id} {...(agent.name === current ? { "data-here": "" } : {})}>
              <td>
                <Link to="/agents/$name" params={{ name: agent.name }} className="agents-one">
                  <Avatar name={agent.name} kind="agent" size="s" />
                  <span>
                    <b>{agent.name}</b>
                    <small className="faint small cut">
                      {run === undefined ? personaSummary(profile?.persona ?? null) : run.trigger.summary}
                    </small>
                  </span>
                </Link>
              </td>
              <td>
                <span className="pill" data-tone={tone}>
                  <Icon name={icon} />
                  {words.states[shown]}
                </span>
              </td>
              <td className="small num wide-only agents-spent">
                {shown === "program" ? (
                  <span className="faint">{words.ownAccount}</span>
                ) : (
                  <Spending spent={spent.get(agent.id) ?? 0} most={profile?.limits.perDay?.cost} />
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const Paused = ({ agents }: { readonly agents: ReadonlyArray<Principal> }) => {
  const names = useNames()
  const { me } = useStart()
  const pauses = usePauses().filter(({ subject }) => agents.some(({ name }) => subject === `agents/${name}`))
  return pauses.map(({ by, createdAt, reason, subject }) => (
    <div key={subject} className="note" data-tone="bad">
      <Icon name="circle-pause" small />
      <p>
        <strong>{words.paused(subject.slice("agents/".length))}</strong>
        {words.pausedSince(names(by), "")}
        <ClockTime at={createdAt} />
        {reason === "" ? "" : words.pausedWhy(reason)}
        {words.pausedWhat} {me.roles.includes("admin") ? <ResumeButton subject={subject} /> : null}
      </p>
    </div>
  ))
}

export const AgentsScreen = ({ Offers, Tokens }: Pick<AgentDetailProps, "Offers" | "Tokens">) => {
  const { name } = useParams({ strict: false })
  // Two routes lead here, and both use the same parameter.
  const { open } = useSearch({ strict: false }) as { readonly open?: boolean }
  const { me } = useStart()
  const navigate = useNavigate()
  const [text, filter] = useState("")
  const people = usePeople()
  const all = people.filter(({ kind }) => kind === "agent")
  const agents = filterAgents(all, text)
  const makes = open === true
  const admin = me.roles.includes("admin")
  const aside = makes || name !== undefined
  // If there is room for both, the first one is shown at once.
  const shown = name ?? (isWide() && !makes ? agents[0]?.name : undefined)
  return (
    <>
      <Header title={words.title} up={aside ? "/agents" : "/house"}>
        <span className="search wide-only">
          <Icon name="filter" small />
          <input
            aria-label={words.filter}
            placeholder={words.filter}
            value={text}
            onChange={(event) => filter(event.target.value)}
          />
        </span>
        {admin ? (
          <button
            type="button"
            className="button main-act"
            aria-expanded={makes}
            onClick={() => void navigate({ to: "/agents", search: makes ? {} : { open: true } })}
          >
            <Icon name="plus" small />
            {words.newAgent}
          </button>
        ) : null}
      </Header>
      <div className="split list-first agents-split" data-aside={aside}>
        <div className={`scroll ${aside ? "not-phone" : ""}`}>
          {people.length === 0 ? (
            <LoadingPane lines={6} />
          ) : agents.length === 0 ? (
            <EmptyPane>{text === "" ? words.none : words.noneFit}</EmptyPane>
          ) : (
            <AgentList agents={agents} {...(shown === undefined ? {} : { current: shown })} />
          )}
          <div className="agents-under stack">
            <Paused agents={all} />
            <TeamTree />
            <p className="small faint">{words.what}</p>
          </div>
        </div>
        {makes ? (
          <NewAgent />
        ) : shown === undefined ? (
          <aside className="not-phone scroll" aria-label={words.title}>
            <EmptyPane>{words.choose}</EmptyPane>
          </aside>
        ) : (
          <AgentDetail key={shown} name={shown} Offers={Offers} Tokens={Tokens} />
        )}
      </div>
    </>
  )
}
