/** About a space: its members, whom a message is for, what is pinned. */
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { house } from "../../../feed/house.ts"
import { useLiveRuns, usePeople, useStart } from "../../../feed/start.ts"
import type { Message, Run, Space } from "../../../feed/types.ts"
import { Avatar } from "../../../parts/icons/Avatar.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { FaultPane } from "../../../parts/panes/Pane.tsx"
import { dayKey, startOfDay } from "../../../parts/figures/time.logic.ts"
import { ClockTime, useNow } from "../../../parts/figures/Time.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { Confirmation } from "../../../parts/press/Confirmation.tsx"
import { useOverlay } from "../../../parts/press/overlays.ts"
import { words as common } from "../../../words/en.ts"
import type { SpaceRights } from "../rights.logic.ts"
import { words } from "../words/en.ts"

export interface SpacePanelProps {
  /** Opened by a press, which then goes on in it. */
  readonly asked: boolean
  readonly space: Space
  readonly may: SpaceRights
  readonly messages: ReadonlyArray<Message>
  readonly close: () => void
  /** Shown first. */
  readonly children?: ReactNode
}

/** What an agent does now, as an icon and a word. */
const Doing = ({ run }: { readonly run: Run | undefined }) => {
  if (run === undefined) return null
  const works = run.state === "running" || run.state === "queued"
  return (
    <Link to="/runs/$run" params={{ run: run.id }} className="pill push" data-tone={works ? "good" : "warn"}>
      <Icon name={works ? "play" : "hourglass"} />
      {works ? words.runs : words.waits}
    </Link>
  )
}

/** Only loaded messages; the panel says so if the day began earlier. */
const Today = ({ messages }: { readonly messages: ReadonlyArray<Message> }) => {
  const from = startOfDay(useNow())
  const today = messages.filter(({ createdAt }) => dayKey(createdAt) === from)
  const calls = today.filter(({ call }) => call !== null)
  const failed = calls.filter(({ call }) => call?.state === "failed" || call?.state === "refused").length
  if (today.length === 0) return null
  const isWhole = today.length < messages.length || messages.length < 100
  return (
    <section className="stack">
      <h2 className="label">{words.todayHere}</h2>
      <dl className="kv">
        <dt>{words.messages}</dt>
        <dd>{words.atLeast(today.length - calls.length, isWhole)}</dd>
        <dt>{words.calls}</dt>
        <dd>{words.callsFailed(calls.length, failed, isWhole)}</dd>
      </dl>
    </section>
  )
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

export const SpacePanel = ({ asked, children, close, may, messages, space }: SpacePanelProps) => {
  const overlay = useOverlay<HTMLElement>("space-panel", close, asked)
  const { me } = useStart()
  const [fault, fail] = useState<unknown>()
  const [asks, ask] = useState(false)
  const pinned = messages.filter((one) => one.pinned)
  const live = useLiveRuns().data ?? []
  const runOf = (id: string) => {
    const own = live.filter(({ agent }) => agent === id)
    return own.find(({ state }) => state === "running") ?? own[0]
  }
  return (
    <aside {...overlay} tabIndex={-1} className="panel scroll sheet" aria-label={words.about}>
      <button
        type="button"
        className="button plain icon phone-only sheet-close"
        aria-label={common.close}
        onClick={close}
      >
        <Icon name="x" small />
      </button>
      {children}
      <section className="stack">
        <h2 className="label">{words.members}</h2>
        <ul>
          {space.members.map(({ id, kind, name, role }) => (
            <li key={id} className="member">
              <Avatar name={name} kind={kind} size="s" />
              <span className="what">
                <span className="cut">{name}</span>
                <small className="cut">
                  {[
                    id === me.id ? words.you : "",
                    role === "owner" ? words.owner : "",
                    kind === "person" ? "" : (runOf(id)?.trigger.summary ?? kind),
                  ]
                    .filter((word) => word !== "")
                    .join(", ")}
                </small>
              </span>
              <Doing run={runOf(id)} />
              {(id === me.id ? may.leave : may.expel) ? (
                <ActButton
                  of={id}
                  className={runOf(id) === undefined ? "button plain tiny push" : "button plain tiny"}
                  aria-label={id === me.id ? words.leave : words.takeOut(name)}
                  onClick={() => void house.spaces.removeMember(space.id, id).catch(fail)}
                >
                  {id === me.id ? words.leave : <Icon name="x" small />}
                </ActButton>
              ) : null}
            </li>
          ))}
        </ul>
        {/* Whoever cannot write is offered it in place of the composer. */}
        {may.join && may.speak ? (
          <p>
            <button
              type="button"
              className="button"
              onClick={() => void house.spaces.addMember(space.id, me.id).catch(fail)}
            >
              {words.join}
            </button>
          </p>
        ) : null}
        {may.invite ? <Invite space={space} fail={fail} /> : null}
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
      <Today messages={messages} />
      {may.own && space.kind !== "dm" ? (
        <section className="stack">
          {asks ? (
            <Confirmation className="note stack" label={words.archiveSure(space.name)} close={() => ask(false)}>
              <p>{words.archiveSure(space.name)}</p>
              <p className="line">
                <ActButton
                  of={space.id}
                  className="button tiny no"
                  onClick={() => void house.spaces.change(space.id, { archived: true }).catch(fail)}
                >
                  {words.archive}
                </ActButton>
                <button type="button" className="button tiny plain" data-first onClick={() => ask(false)}>
                  {words.cancel}
                </button>
              </p>
            </Confirmation>
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
