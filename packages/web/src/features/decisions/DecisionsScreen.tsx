/** The inbox: empty it. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { HouseDecision } from "../../cards/decision/HouseDecision.tsx"
import { keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { later } from "../../feed/clock.ts"
import { useStore } from "../../feed/store.ts"
import type { Decision } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { AgoTime, ClockTime } from "../../parts/figures/Time.tsx"
import { AlwaysList } from "./AlwaysList.tsx"
import { AnsweredList } from "./AnsweredList.tsx"
import { mineAndOthers, type Tab, tabs } from "./decisions.logic.ts"
import { OpenList } from "./OpenList.tsx"
import { askToNotify, notificationsOn, useNotifications } from "./notify.ts"
import { words } from "./words/en.ts"

const useDecision = (id: string | undefined, open: ReadonlyArray<Decision>) => {
  const known = open.find((one) => one.id === id)
  return useQuery({
    queryKey: keys.decision(id ?? ""),
    queryFn: () => house.decisions.get(id!),
    enabled: id !== undefined,
    ...(known === undefined ? {} : { initialData: known }),
  })
}

/** The step that asked; only admins may read calls of others. */
const FromRun = ({ call }: { readonly call: string }) => {
  const { me } = useStart()
  const { data } = useQuery({
    queryKey: ["calls", call],
    queryFn: () => house.calls.get(call),
    enabled: me.roles.includes("admin"),
    retry: false,
  })
  if (data?.run === undefined) return null
  const { id, place, step } = data.run
  return (
    <Link to="/runs/$run" params={{ run: id }} search={{ span: `s${step}c${place}`, tab: "call" }}>
      {words.runStep(step)}
    </Link>
  )
}

const Where = ({ decision }: { readonly decision: Decision }) => {
  const { spaces } = useStart()
  const space = spaces.find(({ id }) => id === decision.space)
  return (
    <>
      <span className="line">
        <Avatar name={decision.asker.name} kind={decision.asker.kind} size="s" />
        {decision.asker.name}
        {space === undefined ? null : (
          <>
            {` ${words.inSpace} `}
            <Link to="/s/$space" params={{ space: space.name }}>
              {space.name}
            </Link>
          </>
        )}
      </span>
      {decision.call === null ? null : <FromRun call={decision.call.id} />}
      <span>
        <ClockTime at={decision.createdAt} />, <AgoTime at={decision.createdAt} said />
      </span>
    </>
  )
}

/** A little longer than a card needs before its presses count. */
const cardMoment = 600

export const DecisionsScreen = () => {
  const { tab = "mine" } = useSearch({ strict: false }) as { readonly tab?: Tab }
  return <DecisionTabs key={tab} tab={tab} />
}

const DecisionTabs = ({ tab }: { readonly tab: Tab }) => {
  const { decisions, me } = useStart()
  const { id } = useParams({ strict: false }) as { readonly id?: string }
  const navigate = useNavigate()
  const pane = useRef<HTMLDivElement>(null)
  const { mine, others } = mineAndOthers(decisions, me.id)
  const first = tab === "mine" ? mine[0] : tab === "others" ? others[0] : undefined
  // On a wide page one is always open; on a phone the user goes in and comes back. The open one stays open even if
  // somebody else has answered it: it must not vanish while a person reads it.
  const [kept, keep] = useState(first?.id)
  if (kept === undefined && first !== undefined) keep(first.id)
  const shown = id ?? kept
  const { data, error, isPending, refetch } = useDecision(shown, decisions)
  const isOn = useStore(notificationsOn)
  useNotifications(mine)
  const at = mine.findIndex((one) => one.id === shown)
  const looking = useRef<string>(undefined)
  useEffect(() => {
    looking.current = shown
    return () => {
      looking.current = undefined
    }
  }, [shown])
  /** After an answer the next one gets the focus, unless the user has gone elsewhere. */
  const openNext = () => {
    if (looking.current !== shown) return
    const next = mine.find((one) => one.id !== shown)
    keep(next?.id)
    if (next === undefined) void navigate({ to: "/decisions", search: { tab } })
    else void navigate({ to: "/decisions/$id", params: { id: next.id }, search: { tab } })
  }
  useEffect(() => {
    if (id === undefined) return undefined
    // A focus that is there before the card can be read would not count.
    const before = document.activeElement
    return later(cardMoment, () => {
      if (document.activeElement === before || document.activeElement === document.body)
        pane.current?.querySelector<HTMLElement>(".decision")?.focus()
    })
  }, [id])
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key !== "j" && event.key !== "k" && event.key !== "ArrowDown" && event.key !== "ArrowUp") return
    const list = [...event.currentTarget.querySelectorAll<HTMLElement>("a.pick")]
    const here = list.indexOf(document.activeElement as HTMLElement)
    const next = list[here + (event.key === "j" || event.key === "ArrowDown" ? 1 : -1)]
    if (next === undefined) return
    event.preventDefault()
    next.focus()
  }
  return (
    <>
      <Header title={words.title} {...(id === undefined ? {} : { up: "/decisions" })}>
        {at === -1 || id === undefined ? null : (
          <span className="faint small phone-only">{words.place(at + 1, mine.length)}</span>
        )}
        <button
          type="button"
          className="button plain icon"
          aria-label={isOn ? words.notifying : words.notify}
          aria-pressed={isOn}
          onClick={() => void askToNotify()}
        >
          <Icon name="bell" small />
        </button>
      </Header>
      <div className="split list-first">
        <div
          className={id === undefined ? "scroll" : "scroll not-phone"}
          role="region"
          aria-label={words.waiting}
          onKeyDown={onKey}
        >
          <nav className="tabs stuck" aria-label={words.list}>
            {tabs.map((one) => (
              <Link
                key={one}
                to="/decisions"
                search={one === "mine" ? {} : { tab: one }}
                activeOptions={{ exact: true, includeSearch: true }}
                aria-current={tab === one ? "page" : undefined}
              >
                {words.tabs[one]}
                {one === "mine" && mine.length > 0 ? <span className="count">{mine.length}</span> : null}
                {one === "others" && others.length > 0 ? <span className="count quiet">{others.length}</span> : null}
              </Link>
            ))}
          </nav>
          {tab === "mine" ? <OpenList list={mine} shown={shown} tab={tab} /> : null}
          {tab === "others" ? <OpenList list={others} shown={shown} tab={tab} /> : null}
          {tab === "answered" ? <AnsweredList shown={shown} /> : null}
          {tab === "always" ? <AlwaysList /> : null}
        </div>
        <div className={id === undefined ? "scroll not-phone" : "scroll"} ref={pane}>
          <div className="page decisions-page stack">
            {shown === undefined ? (
              tab === "always" || mine.length > 0 || others.length > 0 ? null : (
                <EmptyPane>{words.nothingMineMore}</EmptyPane>
              )
            ) : isPending ? (
              <LoadingPane />
            ) : error !== null ? (
              <FaultPane error={error} again={() => void refetch()} />
            ) : (
              <HouseDecision
                key={data.id}
                decision={data}
                where={<Where decision={data} />}
                startsOpen
                onAnswered={openNext}
              />
            )}
          </div>
        </div>
      </div>
    </>
  )
}
