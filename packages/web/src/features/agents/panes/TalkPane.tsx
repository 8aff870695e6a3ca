/** A chat with an agent on its own screen: in their DM, and stored like any other. */
import { Link } from "@tanstack/react-router"
import { type FormEvent, useEffect, useRef, useState } from "react"
import { CallLines } from "../../../cards/CallLines.tsx"
import { house } from "../../../feed/house.ts"
import { useLiveRuns, useStart } from "../../../feed/start.ts"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { Avatar } from "../../../parts/icons/Avatar.tsx"
import { EmptyPane, FaultPane } from "../../../parts/panes/Pane.tsx"
import { Text } from "../../../parts/text/Text.tsx"
import { ClockTime } from "../../../parts/figures/Time.tsx"
import { type Agent, openPair, useRunsOf, useTalk } from "../useAgents.ts"
import { words } from "../words/en.ts"

export const TalkPane = ({ agent }: { readonly agent: Pick<Agent, "id" | "name" | "model"> }) => {
  const { me, spaces } = useStart()
  const pair = spaces.find(({ kind, members }) => kind === "dm" && members.some(({ id }) => id === agent.id))
  const { data } = useTalk(pair)
  const [text, write] = useState("")
  const [fault, fail] = useState<unknown>()
  const [busy, work] = useState(false)
  const end = useRef<HTMLDivElement>(null)
  const items = data?.items ?? []
  const runs = (useLiveRuns().data ?? []).filter((run) => run.agent === agent.id)
  // If the agent does not answer, shows how its run ended.
  const [last] = useRunsOf(agent.id).data ?? []
  const said = items.at(-1)
  const silent =
    runs.length === 0 && said?.author.id === me.id && last?.trigger.message === said.id && last.endedAt !== null
      ? last
      : undefined
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" })
  }, [items.length, runs.length])
  // Messages shown here count as read.
  useEffect(() => {
    if (pair === undefined || pair.unread === 0 || document.visibilityState !== "visible") return
    void house.spaces.read(pair.id, { seq: pair.lastSeq }).catch(() => undefined)
  }, [pair])
  const say = async () => {
    work(true)
    fail(undefined)
    try {
      const space = pair ?? (await openPair(me, agent))
      await house.spaces.post(space.id, { text })
      write("")
    } catch (error) {
      fail(error)
    }
    work(false)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== "") void say()
  }
  if (agent.model === null) return <EmptyPane>{words.talkNoModel(agent.name)}</EmptyPane>
  return (
    <>
      <div className="agents-talk" role="log" aria-label={words.talkOpen(agent.name)} tabIndex={0}>
        {items.length === 0 ? <EmptyPane>{words.talkEmpty(agent.name)}</EmptyPane> : null}
        {items.map((one) => (
          <div key={one.id} className="msg">
            <Avatar name={one.author.name} kind={one.author.kind} />
            <header>
              <b>{one.author.name}</b>
              <ClockTime at={one.createdAt} />
            </header>
            {one.call === null ? (
              <Text text={one.text} names={[me.name, agent.name]} me={me.name} />
            ) : (
              <CallLines messages={[one]} />
            )}
          </div>
        ))}
        {runs.slice(0, 1).map((run) => (
          <p key={run.id} className="doing">
            <span className="ring" /> {words.works(agent.name)}{" "}
            <Link to="/runs/$run" params={{ run: run.id }}>
              {words.itsRun}
            </Link>
          </p>
        ))}
        {silent === undefined ? null : (
          <p className="note" data-tone="warn" role="status">
            <Icon name="circle-alert" small />
            <span>
              {silent.failure ?? words.endedSilent(agent.name)}{" "}
              <Link to="/runs/$run" params={{ run: silent.id }}>
                {words.itsRun}
              </Link>
            </span>
          </p>
        )}
        <div ref={end} />
      </div>
      {fault === undefined ? null : <FaultPane error={fault} />}
      <form className="line" onSubmit={onSubmit}>
        <input
          className="input"
          aria-label={words.talkTo(agent.name)}
          placeholder={words.talkTo(agent.name)}
          value={text}
          onChange={(event) => write(event.target.value)}
        />
        <button type="submit" className="button main-act" disabled={busy}>
          {words.send}
        </button>
      </form>
    </>
  )
}
