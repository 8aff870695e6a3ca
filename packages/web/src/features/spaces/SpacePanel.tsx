/** About a space: who is in it, whom a message is for, what is pinned. */
import { useState } from "react"
import { house } from "../../feed/house.ts"
import { usePeople, useStart } from "../../feed/start.ts"
import type { Message, Space } from "../../feed/types.ts"
import { Face } from "../../parts/Face.tsx"
import { Icon } from "../../parts/Icon.tsx"
import { FaultPane } from "../../parts/Pane.tsx"
import { ClockTime } from "../../parts/Time.tsx"
import { words as common } from "../../words/en.ts"
import { words } from "./words/en.ts"

export interface SpacePanelProps {
  readonly space: Space
  readonly messages: ReadonlyArray<Message>
  readonly close: () => void
}

const Invite = ({ space, fail }: { readonly space: Space; readonly fail: (error: unknown) => void }) => {
  const people = usePeople()
  const others = people.filter((one) => one.retiredAt === null && !space.members.some(({ id }) => id === one.id))
  if (others.length === 0) return null
  return (
    <form
      className="line"
      onSubmit={(event) => {
        event.preventDefault()
        const who = new FormData(event.currentTarget).get("who")
        if (typeof who === "string" && who !== "") void house.spaces.addMember(space.id, who).catch(fail)
      }}
    >
      <select className="input" name="who" aria-label={words.inviteWho} defaultValue="">
        <option value="">{words.invite}</option>
        {others.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit" className="button">
        {words.add}
      </button>
    </form>
  )
}

export const SpacePanel = ({ close, messages, space }: SpacePanelProps) => {
  const { me } = useStart()
  const [fault, fail] = useState<unknown>()
  const [asks, ask] = useState(false)
  const owns = space.members.some(({ id, role }) => id === me.id && role === "owner") || me.roles.includes("admin")
  const pinned = messages.filter((one) => one.pinned)
  return (
    <aside className="panel scroll sheet" aria-label={words.about}>
      <button
        type="button"
        className="button plain icon phone-only sheet-close"
        aria-label={common.close}
        onClick={close}
      >
        <Icon name="x" small />
      </button>
      <section className="stack">
        <h2 className="label">{words.members}</h2>
        <ul>
          {space.members.map(({ id, kind, name, role }) => (
            <li key={id} className="member">
              <Face name={name} kind={kind} size="s" />
              <span className="what">
                <span className="cut">{name}</span>
                <small className="cut">
                  {[id === me.id ? words.you : "", role === "owner" ? words.owner : "", kind === "person" ? "" : kind]
                    .filter((word) => word !== "")
                    .join(", ")}
                </small>
              </span>
              {space.kind !== "dm" && (owns || id === me.id) ? (
                <button
                  type="button"
                  className="button plain tiny push"
                  aria-label={id === me.id ? words.leave : words.takeOut(name)}
                  onClick={() => void house.spaces.removeMember(space.id, id).catch(fail)}
                >
                  {id === me.id ? words.leave : <Icon name="x" small />}
                </button>
              ) : null}
            </li>
          ))}
        </ul>
        {space.kind === "dm" || space.archivedAt !== null ? null : <Invite space={space} fail={fail} />}
      </section>
      <section className="stack">
        <h2 className="label">{words.forWhom}</h2>
        <p className="small soft">{words.triggers[space.trigger]}</p>
      </section>
      {pinned.length === 0 ? null : (
        <section className="stack">
          <h2 className="label">{words.pinned}</h2>
          {pinned.map((one) => (
            <div key={one.id} className="card">
              <div className="in small">
                <p className="strong clamp">{one.text}</p>
                <p className="faint">
                  {one.author.name}, <ClockTime at={one.createdAt} />
                </p>
              </div>
            </div>
          ))}
        </section>
      )}
      {owns && space.kind !== "dm" && space.archivedAt === null ? (
        <section className="stack">
          {asks ? (
            <div className="note stack">
              <p>{words.archiveSure(space.name)}</p>
              <p className="line">
                <button
                  type="button"
                  className="button tiny no"
                  onClick={() => void house.spaces.change(space.id, { archived: true }).catch(fail)}
                >
                  {words.archive}
                </button>
                <button type="button" className="button tiny plain" onClick={() => ask(false)}>
                  {words.cancel}
                </button>
              </p>
            </div>
          ) : (
            <p>
              <button type="button" className="button plain tiny" onClick={() => ask(true)}>
                {words.archive}
              </button>
            </p>
          )}
        </section>
      ) : null}
      {fault === undefined ? null : <FaultPane error={fault} />}
    </aside>
  )
}
