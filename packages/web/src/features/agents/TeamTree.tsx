/** Who works for whom, with the size of each inbox and how many of its runs work at once. */
import { Link } from "@tanstack/react-router"
import { useLiveRuns, usePeople } from "../../feed/start.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { inTrees, looks } from "./agents.logic.ts"
import { useProfiles, useTree } from "./useAgents.ts"
import { words } from "./words/en.ts"

const shown = { busy: "runs", waiting: "waits", idle: "idle", terminated: "idle" } as const

export const TeamTree = () => {
  const { data } = useTree()
  const members = inTrees(data ?? [])
  const agents = usePeople().filter(({ id }) => members.some((one) => one.id === id))
  const profiles = useProfiles(agents)
  const live = useLiveRuns().data ?? []
  if (members.length === 0) return null
  return (
    <section className="stack" aria-label={words.team}>
      <h2 className="label">{words.team}</h2>
      <p className="small faint">{words.teamWhat}</p>
      <ul className="rows agents-tree">
        {members.map(({ depth, id, inbox, name, state }) => {
          const busy = live.filter((run) => run.agent === id && run.state === "running").length
          const width = profiles.get(id)?.inForce?.width ?? 1
          const look = looks[shown[state]]
          return (
            <li key={id} className="line wrap" style={{ paddingInlineStart: `${depth * 1.4}rem` }}>
              <Link className="line agents-one" to="/agents/$name" params={{ name }}>
                <Avatar name={name} kind="agent" size="s" />
                <b>{name}</b>
              </Link>
              <span className="pill" data-tone={look.tone}>
                <Icon name={look.icon} />
                {words.states[shown[state]]}
              </span>
              <span className="small faint push">
                {words.inbox(inbox)} · {words.slotsOf(busy, width)}
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
